"""Function words by language: they are left out of questions, and tell what language a text is in."""

from __future__ import annotations

from typing import Final

_WORDS: Final = {
    "en": """
        a about above after again against all also am an and any are as at be because been before being below
        between both but by can could did do does doing down during each etc few for from further had has have
        having he her here hers herself him himself his i if in into is it its itself just may me might more
        most must my myself no nor not now of off on once only or other our ours ourselves out over own same
        shall she should so some such than that the their theirs them themselves then there these they this
        those through to too under until up upon us very was we were will with would yet you your yours
        yourself yourselves""",
    "de": """
        aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei bin bis bist da
        damit dann das dass dein deine dem den der des dessen die dies diese diesem diesen dieser dieses doch
        dort du durch ein eine einem einen einer eines er es euer etwas für gegen hab habe haben hat hatte
        hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren im in ins ist ja jede jedem jeden jeder
        jedes kann kein keine keinen können mein meine mich mir mit muss nach nicht nichts noch nun nur ob
        oder ohne sehr sein seine seinem seinen seiner selbst sich sie sind so solche soll sollte sondern
        sonst über um und uns unser unter viel vom von vor war waren was weil wenn werden wird wie wieder will
        wir wo wurde wurden während zu zum zur zwar zwischen""",
    "fr": """
        ai alors au aucun aussi autre aux avec avoir bien car ce cela ces cet cette ceux comme dans de des
        donc dont du elle elles en encore entre est et eu eux fait il ils je la le les leur leurs lui là ma
        mais me mes moi mon même ne nos notre nous on ont ou où par pas peut plus pour qu que qui sa sans se
        ses si son sont sous sur ta te tes toi ton tous tout toute toutes tu un une vos votre vous y à été
        était être""",
    "es": """
        a al algo como con cual cuando de del desde donde el ella ellas ellos en entre era es esa ese eso esta
        estaba este esto estos está están fue ha había han hasta hay la las le les lo los me mi mis más muy
        nada ni no nos nosotros o otra otro para pero poco por porque que quien se ser si sin sobre son su sus
        sí también te tiene todo todos tu tus un una uno unos y ya yo él""",
    "it": """
        a ad ai al alla alle allo anche avere aveva c che chi ci come con contro cui da dagli dai dal dalla
        dalle degli dei del della delle dello di dove e ed era essere fra gli ha hanno ho i il in io la le lei
        li lo loro ma me mi mia mio nei nel nella nelle no noi non nostro o per perché più quale quando quella
        quello questa queste questi questo se sei si sia sono su sua sue sugli sul sulla suo tra tu tutti
        tutto un una uno vi voi è""",
    "pt": """
        a ao aos aquela aquele as até com como da das de dela dele depois do dos e ela elas ele eles em entre
        era essa esse esta estava este está eu foi foram há isso isto já lhe mais mas me mesmo meu minha muito
        na nas nem no nos nossa nosso não nós o os ou para pela pelas pelo pelos por quando que quem se sem
        ser seu seus só sua suas são também te tem tinha um uma umas uns você à às é""",
    "nl": """
        aan al alles als andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen
        haar had heb hebben heeft hem het hier hij hoe hun ik in is ja je kan kon maar me meer men met mij
        mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot u
        uit uw van veel voor want waren was wat werd wezen wie wij wil worden wordt zal ze zelf zich zij zijn
        zo zonder zou""",
    "sv": """
        alla allt att av blev bli blir de dem den denna deras dess det detta dig din dina du där efter ej
        eller en er ett från för ha hade han hans har hennes hon honom hur här i icke inom inte ja jag kan
        kunde man med mellan men mig min mina mot mycket ni nu när någon något några och om oss på samma sedan
        sig sin sina ska skulle som så till under upp ut utan vad var vara varit vi vid vår är över""",
    "da": """
        ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din dog du efter
        eller en end er et for fra ham han hans har havde hende hendes her hos hun hvad hvis hvor i ikke ind
        jeg jer jo kunne man mange med meget men mig min mine mit mod når ned noget nogle nu og også om op os
        over på selv sig sin skal skulle som sådan til ud under var vi vil ville være været""",
    "no": """
        at av begge ble bli blir da de deg dem den denne der deres det dette din du eller en er et etter for
        fordi fra før ha hadde han hans har hennes her hun hva hvis hvor hvordan i ikke ingen inn ja jeg kan
        kom kunne man mange med meg men mer min mot må ned noe noen nå når og også om opp oss over på samme
        seg selv si siden sin skal skulle slik som så til under ut var ved vi vil ville vår være vært""",
    "fi": """
        ei eivät emme en et että ette hän häneen hänen he heidän ja jo joka jos jotka kanssa koska kuin kun
        me meidän mikä minun minä mitä mukaan mutta myös ne niiden niin nyt oli olen olet olla olemme on ovat
        se sekä sen siinä sinä sitä tai te tämä tässä tätä vai vaan voi""",
    "ro": """
        a acea acest acesta această al ale am ar are au avea ca care ce cea cel cele cu cum că da dacă de din
        doar după ea ei el ele este eu fi fie fost iar în între la le lui mai mă nici noi nu o or pe pentru
        prin sa sale sau se sunt și să un una unde unei unui va voi""",
    "hu": """
        a az azt be csak de egy el ez ezt fel ha hogy is itt ki lesz már meg mert mi mint minden most még nagy
        nem nincs ott pedig s szerint te új úgy utána vagy van volt és ő össze után""",
    "tr": """
        ama ancak bir biz bu bunu çok çünkü da daha de değil diye en gibi göre hem her için ile ise kadar ki
        kim mi mı nasıl ne o olan olarak oldu olduğu sadece siz şey şu ve veya ya yani""",
    "id": """
        ada adalah akan anda atau bagi bahwa bisa dalam dan dapat dari dengan di dia ini itu juga kami karena
        ke kita lebih mereka oleh pada para saja sebagai seperti sudah tidak untuk yang""",
    "ru": """
        а без бы был была были было быть в вам вас во вот все всё вы для до его ее её если есть еще ещё же за
        и из или им их к как ко когда кто ли мне может мы на над не него нее ни но о об он она они от по под
        при с со так также то того только том тот ты у уже чем что чтобы эта эти это этот я""",
}

# Asked, they say what kind of answer is wanted, not what it is about.
_QUESTIONS: Final = {
    "en": "how what when where which who whom whose why",
    "de": "wann warum was welche welchem welchen welcher welches wer weshalb wie wieso wo wofür woher wohin",
    "fr": "combien comment lequel laquelle pourquoi quand quel quelle quelles quels quoi",
    "es": "cuál cuáles cuándo cuánto cómo dónde por qué quién",
    "it": "come cosa dove perché qual quale quali quando quanto chi",
    "pt": "como onde porque qual quais quando quanto quem quê",
    "nl": "hoe waar waarom wanneer wat welk welke wie",
    "sv": "hur när vad var varför vem vilka vilken vilket",
    "da": "hvad hvem hvilke hvilken hvordan hvorfor hvornår",
    "no": "hva hvem hvilke hvilken hvor hvordan hvorfor når",
    "ru": "где зачем как какая какие какой когда куда откуда почему сколько",
}

STOP_WORDS: Final = {code: frozenset(words.split()) for code, words in _WORDS.items()}
QUESTION_WORDS: Final = {code: frozenset(words.split()) for code, words in _QUESTIONS.items()}
