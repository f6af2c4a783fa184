/** All texts of the pages, in English. `{n}` and the like are filled in; numbers, money and durations come from Intl. */
import type { Plural } from '../../../shared/format.ts'

export const en = {
  online: 'Connected',
  reconnecting: 'Reconnecting',
  offline: 'Offline',
  skip: 'Skip to the content',
  // The sale, for someone who has not joined
  lobbyOpensIn: 'The lobby opens in',
  lobbyOpensAt: 'The lobby opens',
  opensIn: 'The sale opens in',
  opening: 'Opening',
  opensAt: 'Opens',
  openedAt: 'Opened',
  endsAt: 'Ends',
  upcoming:
    'This sale has not begun. Before it opens there is a lobby: this page opens it by itself, and you take a place there.',
  lobbyOpen: 'The lobby is open',
  lobbyInvites: 'Take a place any time before the opening. Being early gives no advantage.',
  saleOpen: 'The sale is open',
  lineInvites: 'Join the line. From now on it is first come, first served.',
  joinLobby: 'Take a place in the lobby',
  joinLine: 'Join the line',
  toOwnPlace: 'I already have a place',
  // How it works
  howItWorks: 'How it works',
  stepLobby: 'Take a place',
  stepLobbyText: 'Everyone in the lobby when the sale opens has the same chance, however early they came.',
  stepDraw: 'The draw',
  stepDrawText: 'At the opening the order is drawn by lot. Your page shows your place at once, and checks the draw.',
  stepLine: 'Take a place in the line',
  stepLineText: 'It is kept on this device. You may close the page, sleep, or lose the connection.',
  stepTurn: 'Your turn',
  stepTurnText: 'Choose, and it is reserved for you for {t} while you pay.',
  stepSiteText: 'This page takes you on to the shop by itself.',
  // About the sale
  about: 'About this sale',
  left: 'about {n} left',
  perVisitor: 'At most {n} per person',
  perVisitorTogether: 'At most {n} per person, all orders together',
  offlineText: 'You are offline. If you have a place in line, you keep it. This page goes on by itself.',
  stuck:
    'Part of this page has not arrived, and so it does not move by itself. If you have a place in line, you keep it.',
  loadAgain: 'Load it again',
  yourOrder: 'You have an order here',
  latestOrder: 'You have ordered here',
  showOrder: 'Show it',
  // The lobby
  inLobby: 'You are in the lobby',
  nothingToDo:
    'There is nothing to do until then. At the opening the order is drawn by lot, and this page shows your place by itself.',
  yourLot: 'Your lot',
  // The line
  inLine: 'You are in line',
  progress: 'Progress of the line towards your place',
  nowServing: 'Now serving',
  yourPlace: 'Your place',
  ahead: { one: 'person ahead of you', other: 'people ahead of you' },
  next: 'You are next',
  waitAbout: 'About {t} to go',
  waitUntil: 'around {t}',
  waitSoon: 'Any moment now',
  waitUnknown: 'No estimate at the moment',
  waitPastEnd: 'The sale may end before your turn',
  keepPlace:
    'Your place is kept on this device, also if you close this page or lose the connection. It moves by itself: reloading does not make it quicker.',
  turnWaits: 'Be back for your turn: it waits {t} for you.',
  paused: 'The line is paused',
  pausedText: 'The shop is catching its breath. Everyone keeps their place, and it goes on where it stopped.',
  allInCarts: 'Everything is in carts',
  allInCartsText:
    'All units are reserved by people who are paying just now. What is not paid comes back, and the line moves on; but it may also sell out before your turn.',
  ready: 'It is your turn',
  readyText: 'One moment: your admission is on its way.',
  missed: 'Your turn has passed',
  missedText: 'Your time to choose is over, or you did not come in time. You can join again, at the end of the line.',
  joinAgain: 'Join again',
  leave: 'Give up my place',
  leaveText: 'Once given up, it does not come back.',
  leaveYes: 'Yes, give it up',
  noScript: 'This page loads itself again after {t}.',
  // The draw
  draw: 'A fair draw',
  drawBefore:
    'The order will follow from a secret number that is fixed already. Below is its fingerprint. At the opening the number is shown, and this page checks that it fits.',
  drawHolds: 'Checked on this device',
  drawHoldsText: 'The number that was shown at the opening fits the published fingerprint.',
  drawSeenBefore: 'This browser had seen the fingerprint before the opening.',
  drawUnchecked: 'The secret number has been shown: anyone can recompute every place.',
  drawYours: 'Lot {n} of {m} was drawn to place {p}.',
  drawLater: 'You came after the opening, where places go by arrival.',
  drawBroken: 'This does not fit',
  drawBrokenText:
    'The number that was shown does not belong to the fingerprint this browser has seen. Please tell the shop.',
  drawDetails: 'Fingerprint and numbers',
  commitment: 'Fingerprint (SHA-256)',
  seed: 'Number shown at the opening',
  beacon: 'Public random value mixed in',
  beaconAnnounced: 'Comes at the opening, from drand.',
  beaconMissed: 'None: it was announced, and did not come in time.',
  drawData: 'The public data of the draw',
  // The turn
  steps: 'Steps',
  stepChoose: 'Choose',
  stepPay: 'Pay',
  stepDone: 'Done',
  chooseText: 'Choose what you want. Once reserved, it is yours for {t} while you pay.',
  turnAllInCarts:
    'It is your turn, but all units are reserved just now. What is not paid comes back: this page offers it by itself.',
  admissionEndsIn: 'Time to choose',
  product: 'Product',
  quantity: 'Quantity',
  until: 'until {t}',
  timeOver: 'The time is up',
  noneLeft: 'none left',
  reserve: 'Reserve',
  lessLeft: 'Not that many are left',
  lessLeftText: 'There are not that many left of this product just now. Choose fewer of it, or something else.',
  chooseAgain: 'Choose again',
  // An order
  alreadyHas: 'You already have an order here, and one person can have at most {n}.',
  orderNumber: 'Order number',
  total: 'Total',
  processing: 'Your order is being recorded',
  processingText: 'What you chose is set aside. This takes a little longer than usual, and goes on by itself.',
  reserved: 'Reserved for you',
  reservedText: 'It is yours until the time is up. Pay to keep it.',
  holdEndsIn: 'Time to pay',
  payWith: 'Pay with',
  pay: 'Pay {m}',
  giveBack: 'Give it back',
  paying: 'Your payment is on its way',
  payingText:
    'We are waiting for the bank. What you chose stays yours meanwhile, and you are charged at most once. You may close this page.',
  confirmed: 'It is yours',
  confirmedText: 'Paid and confirmed. Keep the order number.',
  expired: 'The time was up',
  expiredText: 'The order was not paid in time, and what was reserved has gone back to the line. You were not charged.',
  cancelled: 'The order was cancelled',
  cancelledText:
    'It was given back, or the payment did not go through. What was reserved has gone back to the line, and nothing stays charged.',
  /** By the reason; without one, as above. */
  cancelledFor: {
    given_back: ['You gave it back', 'What was reserved has gone back to the line. You were not charged.'],
    declined: [
      'The payment was declined',
      'What was reserved has gone back to the line, and nothing stays charged. While your turn lasts you can choose again, and pay in another way.',
    ],
    payment_timeout: [
      'The payment did not come through',
      'The bank did not answer in time. What was reserved has gone back to the line, and nothing stays charged. While your turn lasts you can choose again.',
    ],
    oversold: [
      'There was not enough for everyone',
      'By a mistake of ours more was sold than there was, and your order was one too many. We are sorry. What was charged is paid back.',
    ],
    no_stock: [
      'There was nothing left',
      'While your order was being recorded, the last of it went to others. You were not charged.',
    ],
    limit: [
      'You already had an order here',
      'This one was more than one person can have. The other stays, and you were not charged for this one.',
    ],
    replay: ['This order came twice', 'The other one counts, and you were not charged for this one.'],
    too_many: [
      'Too many of your orders were not paid',
      'One person can give back, or leave unpaid, only so many orders in a sale. This sale takes no more orders from you, and you were not charged for this one.',
    ],
  },
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
  soldOutText: 'Every unit has found its owner. Thank you for coming. Should more come in, this page will say so.',
  ended: 'The sale has ended',
  endedText: 'Thank you for coming.',
  toWanted: 'On to the shop',
  // When something is wrong
  tryAgain: 'Try again',
  problem: 'That did not work',
  problemText: 'Please try again in a moment. If you have a place in line, you keep it.',
  problemFields: 'Please go back and check what was entered.',
  invitation: 'The code of your invitation',
  invitationIfAny: 'The code of your invitation, if you have one',
  signInForLine: 'There is a line of its own for some who are signed in to the shop.',
  ofLine: 'Your line: {line}',
  earlierLine: 'There is a line that opens earlier, for some. If you may join it, this is the way in.',
  joinEarlier: 'Join the earlier line',
  invitationNeeded: 'This sale is for invited people. You need the code or the link of your invitation.',
  invitationFaults: {
    none: 'Please enter the code of your invitation, or open its link.',
    unknown: 'There is no such invitation. Please check its letters, or open its link again.',
    used_up: 'This invitation has been used by as many people as it is for.',
  },
  signInNeeded: 'This sale is for people who are signed in to the shop.',
  notSignedIn: 'Not signed in yet?',
  signIn: 'Sign in',
  /** On ALTCHA's widget, by its own names. */
  proof: {
    label: 'I am not a bot',
    verifying: 'One moment …',
    verified: 'Done',
    error: 'That did not work. Please try again.',
    expired: 'That was some time ago. Please try again.',
    verificationRequired: 'Please tick this first.',
    waitAlert: 'One moment, please.',
  },
  checkAway: 'The check that you are no bot could not be loaded. Please load this page again.',
  proofNeedsScript: 'To keep bots out, your browser solves a small task before you join. That needs JavaScript.',
  /** By the type of the problem; other types are shown as `problem`. */
  problems: {
    'unknown-sale': ['There is no such sale', 'Please check the address.'],
    'not-found': ['There is no such page', 'Please check the address.'],
    'unknown-order': [
      'This order cannot be shown here',
      'An order is shown only in the browser that made it, and for one day.',
    ],
    'unknown-product': ['There is no such product', 'Please go back and choose again.'],
    'not-open': ['The sale is not open yet', 'Its page shows when it opens.'],
    'not-admitted': [
      'It is not your turn',
      'Your admission has expired, or you had none. The page of the sale shows your place.',
    ],
    'cookies-required': [
      'This needs cookies',
      'Your place in line is kept in a cookie. Please allow cookies for this page, and join again.',
    ],
    'invalid-token': [
      'Your place could not be read',
      'It may be too old, or belong to another sale. You can join again.',
    ],
    'signed-out': ['You are signed out of the shop', 'Sign in to the shop again: your place is kept.'],
    'wrong-sale': ['That belongs to another sale', 'Please go back to the sale and try again.'],
    'all-in-carts': [
      'Everything is in carts',
      'All units are reserved just now. What is not paid comes back: try again in a moment.',
    ],
    'sold-out': ['Sold out', 'Every unit has found its owner.'],
    ended: ['The sale has ended', 'Thank you for coming.'],
    conflict: ['That is no longer possible', 'The order has changed in the meantime.'],
    'sign-in-required': [
      'Please sign in first',
      'This sale is for people who are signed in to the shop. Afterwards you come back to it.',
    ],
    'invitation-required': [
      'An invitation is needed',
      'This sale is for invited people. Please enter the code of your invitation, or open its link.',
    ],
    refused: [
      'You cannot take part',
      'The shop does not let you into this sale. If that is a mistake, please ask the shop.',
    ],
    'too-many-orders': [
      'Others come first now',
      'An earlier order of yours was not paid, or was given back. Others who wait have their turn first. You can try again a little later.',
    ],
    'proof-required': [
      'A small task comes first',
      'To keep bots out, your browser solves a small task before you join. Please try again.',
    ],
    'too-many-requests': [
      'That was a little too often',
      'Please wait a moment. If you have a place in line, you keep it.',
    ],
    forbidden: ['That came from another site', 'Please use the page of the sale itself.'],
    'try-again': [
      'The shop cannot be reached at the moment',
      'Please try again shortly. If you have a place in line, you keep it.',
    ],
    'internal-error': [
      'Something went wrong on our side',
      'Please try again shortly. If you have a place in line, you keep it.',
    ],
  },
} as const

/** The shape of the English catalogue, with any words. */
type Translated<T> = T extends string ? string : { readonly [key in keyof T]: Translated<T[key]> }

export type Words = Omit<Translated<typeof en>, 'ahead'> & { readonly ahead: Plural }
