import type { MailWords } from './mail-words.ts'

export const de: MailWords = {
  confirmed: [
    'Deine Bestellung ist bestätigt: {sale}',
    'Danke. Deine Zahlung ist da, und deine Bestellung ist bestätigt.',
  ],
  declined: [
    'Deine Bestellung konnte nicht bezahlt werden: {sale}',
    'Deine Zahlung wurde abgelehnt, und die Bestellung ist beendet. Es wurde nichts abgebucht. Was für dich ' +
      'zurückgelegt war, ist wieder im Verkauf.',
  ],
  cancelled: 'Deine Bestellung kam nicht zustande: {sale}',
  cancelledFor: {
    payment_timeout:
      'Deine Bank hat nicht rechtzeitig geantwortet, deshalb ist die Bestellung beendet. Es bleibt nichts ' +
      'abgebucht: Was deine Bank dafür vorgemerkt hat, wird von selbst wieder frei. Wenn du es noch möchtest, ' +
      'geh zum Verkauf zurück und wähle neu.',
    not_authenticated:
      'Die Zahlung wurde nicht rechtzeitig bei deiner Bank bestätigt, deshalb ist die Bestellung beendet. Es ' +
      'bleibt nichts abgebucht. Wenn du es noch möchtest, geh zum Verkauf zurück, wähle neu und bestätige, ' +
      'wenn deine Bank fragt.',
    oversold:
      'Durch einen Fehler von uns wurde mehr verkauft, als da war, und deine Bestellung war eine zu viel. Das ' +
      'tut uns leid. Was abgebucht wurde, wird erstattet, und du musst nichts tun.',
    no_stock:
      'Während deine Bestellung erfasst wurde, ging das letzte Stück an andere. Es wurde nichts abgebucht. ' +
      'Was zurückkommt, ist wieder im Verkauf: Sieh auf der Seite des Verkaufs nach.',
    limit:
      'Du hattest in diesem Verkauf schon eine Bestellung, und diese war mehr, als eine Person haben kann. ' +
      'Die andere bleibt, und für diese wurde nichts abgebucht. Du musst nichts tun.',
    replay:
      'Sie kam zweimal bei uns an. Es gilt die andere, die unter deinen Bestellungen steht; für diese wurde ' +
      'nichts abgebucht.',
    seat_taken:
      'Während deine Bestellung erfasst wurde, hat jemand anders diese Plätze bekommen. Es wurde nichts ' +
      'abgebucht. Auf der Seite des Verkaufs kannst du andere Plätze wählen.',
    price_changed:
      'Während deine Bestellung erfasst wurde, hat der Shop den Preis geändert. Es wurde nichts abgebucht. ' +
      'Sieh dir den neuen Preis auf der Seite des Verkaufs an, und bestelle neu, wenn er dir recht ist.',
    too_many:
      'Frühere Bestellungen von dir wurden zurückgegeben oder nicht bezahlt, und andere kommen zuerst. Für ' +
      'diese wurde nichts abgebucht. Wenn du es noch möchtest, geh später zum Verkauf zurück; wenn das ein ' +
      'Irrtum ist, frag den Shop.',
  },
  refunded: [
    'Deine Bestellung wurde erstattet: {sale}',
    'Der ganze Preis ist auf dem Weg zurück zu dir. Deine Bank braucht dafür vielleicht ein paar Tage.',
  ],
  refundedInPart: [
    'Ein Teil deiner Bestellung wurde erstattet: {sale}',
    'Ein Teil des Preises ist auf dem Weg zurück zu dir. Deine Bank braucht dafür vielleicht ein paar Tage.',
  ],
  holdEnds: [
    'Deine Reservierung endet gleich: {sale}',
    'In etwa einer halben Minute geht in den Verkauf zurück, was für dich zurückgelegt ist. Bezahle vorher, ' +
      'um es zu behalten.',
  ],
  holdEnded: [
    'Deine Reservierung ist abgelaufen: {sale}',
    'Sie wurde nicht rechtzeitig bezahlt, und es wurde nichts abgebucht. Wenn du es noch möchtest, kannst du ' +
      'dich wieder anstellen.',
  ],
  sent: ['Deine Bestellung ist unterwegs: {sale}', 'Deine Bestellung wurde verschickt.'],
  turnNear: ['Du bist bald dran: {sale}', 'In etwa {t} bist du dran. Halte Adresse und Karte bereit.'],
  turn: ['Du bist dran: {sale}', 'Öffne jetzt deine Seite: Du hast dafür nur ein paar Minuten.'],
  soldOut: [
    'Ausverkauft: {sale}',
    'Alles war verkauft, bevor du dran warst. Auf der Seite des Verkaufs kannst du um eine Mail bitten, falls ' +
      'etwas nachkommt.',
  ],
  restocked: ['Es gibt Nachschub: {sale}', 'Was ausverkauft war, ist wieder im Verkauf, solange der Vorrat reicht.'],
  toLine: 'Zur Warteschlange',
  toSale: 'Zum Verkauf',
  stop: 'Schickt mir keine solchen Mails mehr',
  whyAsked: 'Du bekommst diese Mail, weil jemand auf der Seite des Verkaufs mit dieser Adresse darum gebeten hat.',
  product: 'Produkt',
  ticket: 'Ticket',
  row: 'Reihe',
  seat: 'Platz',
  discount: 'Rabatt {code}',
  shipping: 'Versand',
  included: '{name}, enthalten',
  total: 'Summe',
  refundedSoFar: 'Insgesamt erstattet',
  order: 'Bestellnummer',
  show: 'Bestellung anzeigen',
  sentTo: 'Der Versand geht an:',
  pickUp: 'Hol es hier ab: {where}',
  pickUpLater: 'Der Shop sagt dir, wo und wann du es abholen kannst.',
  handover: 'Der Shop braucht noch deine Adresse: Öffne die Bestellung und geh von dort weiter zum Shop.',
  date: 'Termin',
  venue: 'Ort',
  calendar: 'In den Kalender',
  why: 'Du bekommst diese Mail, weil du diese Adresse bei deiner Bestellung angegeben hast.',
}
