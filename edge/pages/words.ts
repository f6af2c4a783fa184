/**
 * Every word on the pages, a catalogue per language. A new language is a new catalogue: the type says what is missing.
 * `{n}` and the like are filled in by `fill`. Durations and numbers come from Intl, not from here.
 */

const en = {
  // The sale's own page
  opensIn: 'Opens in',
  lobbyOpensIn: 'The lobby opens in',
  open: 'The sale is open',
  joinLobby: 'Take a place in the lobby',
  joinLine: 'Join the line',
  lobbyExplained:
    'Come any time before the opening: being first now buys nothing. At the opening everyone in the lobby is put in an order drawn by lot, and you see your place at once.',
  lineExplained: 'First come, first served. Your place is kept on this device, also if you close the page.',
  available: '{n} available',
  left: 'about {n} left',
  perVisitor: 'At most {n} per person.',
  // The lobby and the line
  inLobby: 'You are in the lobby',
  inLobbyExplained:
    'Your lot is number {n}. When the sale opens, the order is drawn, and this page shows your place by itself. There is nothing to do until then.',
  yourNumber: 'Your number',
  yourPosition: 'Your position',
  ahead: 'people ahead of you',
  nowServing: 'Now serving',
  waitAbout: 'About {t} to go',
  waitUnknown: 'The wait cannot be told at the moment',
  waitSoon: 'Any moment now',
  waiting: 'You are in the line',
  keepPlace:
    'You keep your place, also if you close this page or lose the connection. It moves by itself; reloading does not make it quicker.',
  paused: 'The line is paused',
  pausedExplained:
    'The shop is taking a breath. Everyone keeps their place, and it goes on where it stopped.',
  allInCarts: 'All units are in carts',
  allInCartsExplained:
    'Someone may put one back, and then the line moves on. You keep your place. It is honest to say: it may also sell out.',
  yourTurn: 'It is your turn',
  yourTurnExplained: 'Getting your admission ..',
  missed: 'Your turn has passed',
  missedExplained: 'You were called and did not come in time. You can join again at the end of the line.',
  joinAgain: 'Join again',
  leave: 'Leave the line',
  progress: 'Progress of the line towards your position',
  online: 'Connected',
  offline: 'No connection. You keep your place; this page tries again by itself.',
  announceAhead: '{n} people ahead of you. {t}.',
  // The draw
  draw: 'A fair draw, and how to check it',
  drawBefore:
    'The order will follow from a secret number that is fixed already. This is its fingerprint; the number itself is shown at the opening, and then anyone can recompute every position.',
  drawHolds:
    'Checked by this page: the secret number that was revealed fits the fingerprint that was published before, and your position follows from it.',
  drawBroken: 'The revealed number does NOT fit the fingerprint. Please tell the shop.',
  commitment: 'Fingerprint (SHA-256)',
  seed: 'Revealed number',
  // Checkout
  choose: 'Your turn. Choose and reserve.',
  chooseExplained:
    'Your admission is good for five minutes. What you reserve is yours for {t} while you pay.',
  product: 'Product',
  quantity: 'Quantity',
  soldOutHere: 'sold out',
  reserve: 'Reserve',
  // An order
  order: 'Order',
  processing: 'Recording your order',
  processingExplained:
    'Your unit is set aside. This takes a moment longer than usual; the page goes on by itself.',
  reserved: 'Reserved for you',
  reservedFor: 'Yours for another',
  payWith: 'Pay with',
  pay: 'Pay {m}',
  giveBack: 'Give it back',
  paying: 'Paying',
  payingExplained:
    'We are waiting for the answer of the bank. Your unit stays yours meanwhile, and you are charged once at most.',
  confirmed: 'It is yours',
  confirmedExplained: 'Paid and confirmed. Keep the order number.',
  expired: 'The time was up',
  expiredExplained:
    'The order was not paid in time, and its unit has gone back to the line. You were not charged.',
  cancelled: 'Order cancelled',
  cancelledExplained: 'The unit has gone back to the line. If anything was charged, it is refunded.',
  backToSale: 'Back to the sale',
  methods: {
    pm_ok: 'Card that works',
    pm_declined: 'Card that is declined',
    pm_slow: 'Bank that is slow',
    pm_flaky: 'Bank that answers at the second try',
    pm_timeout: 'Bank that never answers',
  },
  // The end
  soldOut: 'Sold out',
  soldOutExplained:
    'Every unit has found its owner. Thank you for waiting with us. Should more come in, this page will say so.',
  ended: 'The sale has ended',
  endedExplained: 'Thank you for coming.',
  // When something is wrong
  problem: 'That did not work',
  proofNeedsScript:
    'To keep bots out, your browser solves a small task before you join. That needs JavaScript.',
}

export type Words = typeof en

const de: Words = {
  opensIn: 'Beginnt in',
  lobbyOpensIn: 'Die Lobby öffnet in',
  open: 'Der Verkauf läuft',
  joinLobby: 'Platz in der Lobby nehmen',
  joinLine: 'Anstellen',
  lobbyExplained:
    'Komm, wann du willst: Jetzt Erster zu sein, bringt nichts. Zu Beginn wird die Reihenfolge aller in der Lobby ausgelost, und du siehst sofort deinen Platz.',
  lineExplained:
    'Wer zuerst kommt, ist zuerst dran. Dein Platz bleibt auf diesem Gerät erhalten, auch wenn du die Seite schließt.',
  available: '{n} verfügbar',
  left: 'noch etwa {n}',
  perVisitor: 'Höchstens {n} pro Person.',
  inLobby: 'Du bist in der Lobby',
  inLobbyExplained:
    'Dein Los ist die Nummer {n}. Zu Beginn wird die Reihenfolge gelost, und diese Seite zeigt deinen Platz von selbst. Bis dahin gibt es nichts zu tun.',
  yourNumber: 'Deine Nummer',
  yourPosition: 'Deine Position',
  ahead: 'Personen vor dir',
  nowServing: 'Gerade dran',
  waitAbout: 'Noch etwa {t}',
  waitUnknown: 'Die Wartezeit ist gerade nicht abzusehen',
  waitSoon: 'Gleich ist es so weit',
  waiting: 'Du stehst in der Schlange',
  keepPlace:
    'Dein Platz bleibt dir, auch wenn du diese Seite schließt oder die Verbindung verlierst. Es geht von selbst weiter; neu laden hilft nicht.',
  paused: 'Die Schlange steht gerade',
  pausedExplained:
    'Der Laden holt kurz Luft. Alle behalten ihren Platz, und es geht dort weiter, wo es aufgehört hat.',
  allInCarts: 'Alles liegt in Warenkörben',
  allInCartsExplained:
    'Vielleicht legt jemand etwas zurück, dann geht es weiter. Dein Platz bleibt dir. Ehrlich gesagt: Es kann auch ausverkauft sein.',
  yourTurn: 'Du bist dran',
  yourTurnExplained: 'Dein Einlass wird geholt ..',
  missed: 'Du warst schon dran',
  missedExplained:
    'Du wurdest aufgerufen und bist nicht rechtzeitig gekommen. Du kannst dich hinten neu anstellen.',
  joinAgain: 'Neu anstellen',
  leave: 'Schlange verlassen',
  progress: 'Fortschritt der Schlange bis zu deiner Position',
  online: 'Verbunden',
  offline: 'Keine Verbindung. Dein Platz bleibt dir; diese Seite versucht es von selbst wieder.',
  announceAhead: '{n} Personen vor dir. {t}.',
  draw: 'Eine faire Auslosung, und wie man sie prüft',
  drawBefore:
    'Die Reihenfolge folgt aus einer geheimen Zahl, die schon feststeht. Dies ist ihr Fingerabdruck; die Zahl selbst wird zu Beginn gezeigt, und dann kann jeder jede Position nachrechnen.',
  drawHolds:
    'Von dieser Seite geprüft: Die gezeigte Zahl passt zum vorher veröffentlichten Fingerabdruck, und deine Position folgt aus ihr.',
  drawBroken: 'Die gezeigte Zahl passt NICHT zum Fingerabdruck. Bitte sag dem Laden Bescheid.',
  commitment: 'Fingerabdruck (SHA-256)',
  seed: 'Gezeigte Zahl',
  choose: 'Du bist dran. Wähle und reserviere.',
  chooseExplained:
    'Dein Einlass gilt fünf Minuten. Was du reservierst, gehört dir {t} lang, während du bezahlst.',
  product: 'Produkt',
  quantity: 'Anzahl',
  soldOutHere: 'ausverkauft',
  reserve: 'Reservieren',
  order: 'Bestellung',
  processing: 'Deine Bestellung wird eingetragen',
  processingExplained:
    'Dein Stück ist zurückgelegt. Es dauert etwas länger als sonst; die Seite geht von selbst weiter.',
  reserved: 'Für dich reserviert',
  reservedFor: 'Noch für dich zurückgelegt:',
  payWith: 'Bezahlen mit',
  pay: '{m} bezahlen',
  giveBack: 'Zurückgeben',
  paying: 'Bezahlung läuft',
  payingExplained:
    'Wir warten auf die Antwort der Bank. Dein Stück bleibt dir solange, und es wird höchstens einmal abgebucht.',
  confirmed: 'Es gehört dir',
  confirmedExplained: 'Bezahlt und bestätigt. Heb die Bestellnummer auf.',
  expired: 'Die Zeit war um',
  expiredExplained:
    'Die Bestellung wurde nicht rechtzeitig bezahlt, und das Stück ging an die Schlange zurück. Es wurde nichts abgebucht.',
  cancelled: 'Bestellung storniert',
  cancelledExplained:
    'Das Stück ging an die Schlange zurück. Falls etwas abgebucht wurde, wird es erstattet.',
  backToSale: 'Zurück zum Verkauf',
  methods: {
    pm_ok: 'Karte, die funktioniert',
    pm_declined: 'Karte, die abgelehnt wird',
    pm_slow: 'Bank, die langsam ist',
    pm_flaky: 'Bank, die beim zweiten Mal antwortet',
    pm_timeout: 'Bank, die nie antwortet',
  },
  soldOut: 'Ausverkauft',
  soldOutExplained:
    'Jedes Stück hat seinen Besitzer gefunden. Danke fürs Warten. Sollte noch etwas dazukommen, steht es hier.',
  ended: 'Der Verkauf ist vorbei',
  endedExplained: 'Danke, dass du da warst.',
  problem: 'Das hat nicht geklappt',
  proofNeedsScript:
    'Gegen Bots löst dein Browser eine kleine Aufgabe, bevor du dich anstellst. Dafür braucht er JavaScript.',
}

const CATALOGUES: Record<string, Words> = { en, de }
export const LANGUAGES = Object.keys(CATALOGUES)

/** The catalogue of a language; English where there is none. */
export function wordsFor(language: string): { lang: string; words: Words } {
  const words = CATALOGUES[language]
  return words ? { lang: language, words } : { lang: 'en', words: en }
}
