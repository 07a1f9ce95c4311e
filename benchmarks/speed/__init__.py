"""How long things take, one question for each module; every module has `run(options) -> Report`."""
