/** All texts of the mails in each language. */
import type { Language } from '../../shared/api/fields.ts'
import type { MailedReason } from '../../shared/api/order-status.ts'

export interface MailWords {
  /** Each kind of mail has a subject and a text that says what happened. `{sale}` is the sale's name. */
  readonly confirmed: readonly [subject: string, text: string]
  readonly declined: readonly [subject: string, text: string]
  /**
   * The subject of a mail about an order that ended for a reason of the shop or the bank. The text says why, and what
   * the buyer can do.
   */
  readonly cancelled: string
  readonly cancelledFor: Readonly<Record<MailedReason, string>>
  readonly refunded: readonly [subject: string, text: string]
  readonly refundedInPart: readonly [subject: string, text: string]
  readonly holdEnds: readonly [subject: string, text: string]
  readonly holdEnded: readonly [subject: string, text: string]
  readonly sent: readonly [subject: string, text: string]
  /** `{t}` is the time until the turn. */
  readonly turnNear: readonly [subject: string, text: string]
  readonly turn: readonly [subject: string, text: string]
  readonly soldOut: readonly [subject: string, text: string]
  readonly restocked: readonly [subject: string, text: string]
  readonly toLine: string
  readonly toSale: string
  /** The link that ends all mails except those about the recipient's own orders. */
  readonly stop: string
  readonly whyAsked: string
  readonly product: string
  /** One seat, or places of a section. */
  readonly ticket: string
  readonly row: string
  readonly seat: string
  /** `{code}` is the promo code. */
  readonly discount: string
  readonly shipping: string
  /** A fee or a tax, `{name}`, that is included in the prices. */
  readonly included: string
  readonly total: string
  /** The sum that was refunded until now, if there are several refunds. */
  readonly refundedSoFar: string
  readonly order: string
  readonly show: string
  /** The delivery of the order, written before the lines of the address; `{where}` is the shop's own text. */
  readonly sentTo: string
  readonly pickUp: string
  readonly pickUpLater: string
  readonly handover: string
  /** The time and place of the event or the pickup, and the link that adds them to a calendar. */
  readonly date: string
  readonly venue: string
  readonly calendar: string
  readonly why: string
}

export const WORDS: Readonly<Record<Language, MailWords>> = {
  en: {
    confirmed: ['Your order is confirmed: {sale}', 'Thank you. Your payment has arrived, and your order is confirmed.'],
    declined: [
      'Your order could not be paid: {sale}',
      'Your payment was declined, and the order has ended. Nothing was charged. What was set aside for you is ' +
        'for sale again.',
    ],
    cancelled: 'Your order did not go through: {sale}',
    cancelledFor: {
      payment_timeout:
        'Your bank did not answer in time, so the order has ended. Nothing stays charged: what your bank may ' +
        'have set aside for it comes free by itself. If you still want it, go back to the sale and choose again.',
      not_authenticated:
        'The payment was not confirmed with your bank in time, so the order has ended. Nothing stays charged. ' +
        'If you still want it, go back to the sale, choose again, and confirm when your bank asks.',
      oversold:
        'By a mistake of ours more was sold than there was, and your order was one too many. We are sorry. What ' +
        'was charged is paid back, and there is nothing for you to do.',
      no_stock:
        'While your order was being recorded, the last of it went to others. Nothing was charged. What is given ' +
        'back goes on sale again: look at the page of the sale.',
      limit:
        'You already had an order in this sale, and this one was more than one person can have. The other one ' +
        'stays, and nothing was charged for this one. There is nothing for you to do.',
      replay: 'It reached us twice. The other one counts, and is among your orders; nothing was charged for this one.',
      seat_taken:
        'While your order was being recorded, somebody else got these seats. Nothing was charged. You can ' +
        'choose other seats on the page of the sale.',
      price_changed:
        'While your order was being recorded, the shop changed its price. Nothing was charged. Look at the new ' +
        'price on the page of the sale, and order again if it suits you.',
      too_many:
        'Earlier orders of yours were given back or not paid, and others come first. Nothing was charged for ' +
        'this one. If you still want it, go back to the sale later; if this is a mistake, ask the shop.',
    },
    refunded: [
      'Your order was refunded: {sale}',
      'The whole price is on its way back to you. Your bank may take some days.',
    ],
    refundedInPart: [
      'A part of your order was refunded: {sale}',
      'A part of the price is on its way back to you. Your bank may take some days.',
    ],
    holdEnds: [
      'What you reserved goes back on sale soon: {sale}',
      'In about half a minute, what is set aside for you goes back on sale. Pay before then to keep it.',
    ],
    holdEnded: [
      'What you reserved is back on sale: {sale}',
      'It was not paid in time, and nothing was charged. If you still want it, the line is open to you.',
    ],
    sent: ['Your order is on its way: {sale}', 'Your order has been sent.'],
    turnNear: ['Your turn is near: {sale}', 'In about {t} it is your turn. Have your address and card ready.'],
    turn: ['It is your turn: {sale}', 'Open your page now: your turn waits only a few minutes for you.'],
    soldOut: [
      'Sold out: {sale}',
      'All of it was sold before your turn. On the page of the sale you can ask for a mail if more comes in.',
    ],
    restocked: ['More has come in: {sale}', 'What was sold out is for sale again, for as long as it lasts.'],
    toLine: 'Go to the line',
    toSale: 'Go to the sale',
    stop: 'Send me no more of these mails',
    whyAsked: 'You get this mail because somebody asked for it with this address on the page of the sale.',
    product: 'Product',
    ticket: 'Ticket',
    row: 'row',
    seat: 'seat',
    discount: 'Discount {code}',
    shipping: 'Shipping',
    included: '{name}, included',
    total: 'Total',
    refundedSoFar: 'Refunded in all',
    order: 'Order number',
    show: 'Show the order',
    sentTo: 'It is sent to:',
    pickUp: 'Pick it up here: {where}',
    pickUpLater: 'The shop will tell you where and when to pick it up.',
    handover: 'The shop still needs your address: show the order, and go on to the shop from there.',
    date: 'Date and time',
    venue: 'Place',
    calendar: 'Add to calendar',
    why: 'You get this mail because you left this address with your order.',
  },
  de: {
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
  },
  fr: {
    confirmed: [
      'Votre commande est confirmée : {sale}',
      'Merci. Votre paiement est arrivé et votre commande est confirmée.',
    ],
    declined: [
      "Votre commande n'a pas pu être payée : {sale}",
      "Votre paiement a été refusé et la commande est close. Rien n'a été débité. Ce qui vous était réservé est " +
        'de nouveau en vente.',
    ],
    cancelled: "Votre commande n'a pas abouti : {sale}",
    cancelledFor: {
      payment_timeout:
        "Votre banque n'a pas répondu à temps et la commande est close. Rien ne reste débité : ce que votre " +
        'banque a pu mettre de côté se libère de lui-même. Si vous le souhaitez encore, retournez à la vente et ' +
        'choisissez à nouveau.',
      not_authenticated:
        "Le paiement n'a pas été confirmé à temps auprès de votre banque et la commande est close. Rien ne " +
        'reste débité. Si vous le souhaitez encore, retournez à la vente, choisissez à nouveau et confirmez ' +
        'quand votre banque le demande.',
      oversold:
        "Par une erreur de notre part, nous avons vendu plus que nous n'avions, et votre commande était de " +
        "trop. Nous en sommes désolés. Ce qui a été débité est remboursé, et vous n'avez rien à faire.",
      no_stock:
        "Pendant l'enregistrement de votre commande, les derniers articles sont allés à d'autres. Rien n'a été " +
        'débité. Ce qui est rendu revient en vente : consultez la page de la vente.',
      limit:
        "Vous aviez déjà une commande dans cette vente, et celle-ci dépassait ce qu'une personne peut avoir. " +
        "L'autre reste, et rien n'a été débité pour celle-ci. Vous n'avez rien à faire.",
      replay:
        "Elle nous est parvenue deux fois. C'est l'autre qui compte, parmi vos commandes ; rien n'a été débité " +
        'pour celle-ci.',
      seat_taken:
        "Pendant l'enregistrement de votre commande, quelqu'un d'autre a obtenu ces places. Rien n'a été " +
        "débité. Vous pouvez choisir d'autres places sur la page de la vente.",
      price_changed:
        "Pendant l'enregistrement de votre commande, la boutique a changé le prix. Rien n'a été débité. Voyez " +
        "le nouveau prix sur la page de la vente et commandez à nouveau s'il vous convient.",
      too_many:
        "Des commandes précédentes de votre part ont été rendues ou n'ont pas été payées, et d'autres passent " +
        "d'abord. Rien n'a été débité pour celle-ci. Si vous le souhaitez encore, retournez à la vente plus " +
        "tard ; si c'est une erreur, demandez à la boutique.",
    },
    refunded: [
      'Votre commande a été remboursée : {sale}',
      'La totalité du prix vous est rendue. Votre banque peut prendre quelques jours.',
    ],
    refundedInPart: [
      'Une partie de votre commande a été remboursée : {sale}',
      'Une partie du prix vous est rendue. Votre banque peut prendre quelques jours.',
    ],
    holdEnds: [
      'Votre réservation se termine bientôt : {sale}',
      'Dans une demi-minute environ, ce qui vous est réservé sera remis en vente. Payez avant pour le garder.',
    ],
    holdEnded: [
      'Votre réservation est terminée : {sale}',
      "Elle n'a pas été payée à temps et rien n'a été débité. Si vous le souhaitez encore, vous pouvez " +
        'rejoindre la file.',
    ],
    sent: ['Votre commande est en route : {sale}', 'Votre commande a été expédiée.'],
    turnNear: [
      'Votre tour approche : {sale}',
      'Ce sera votre tour dans environ {t}. Préparez votre adresse et votre carte.',
    ],
    turn: [
      "C'est votre tour : {sale}",
      'Ouvrez votre page maintenant : votre tour ne vous attend que quelques minutes.',
    ],
    soldOut: [
      'Tout est vendu : {sale}',
      'Tout a été vendu avant votre tour. Sur la page de la vente, vous pouvez demander un message en cas de réassort.',
    ],
    restocked: [
      'De nouveau disponible : {sale}',
      'Ce qui était épuisé est de nouveau en vente, dans la limite du stock.',
    ],
    toLine: 'Aller à la file',
    toSale: 'Aller à la vente',
    stop: "Ne plus m'envoyer ces messages",
    whyAsked: "Vous recevez ce message parce que quelqu'un l'a demandé avec cette adresse sur la page de la vente.",
    product: 'Produit',
    ticket: 'Billet',
    row: 'rang',
    seat: 'place',
    discount: 'Remise {code}',
    shipping: 'Livraison',
    included: '{name}, incluse',
    total: 'Total',
    refundedSoFar: 'Remboursé en tout',
    order: 'Numéro de commande',
    show: 'Voir la commande',
    sentTo: 'Livraison à :',
    pickUp: 'À retirer ici : {where}',
    pickUpLater: 'La boutique vous dira où et quand retirer votre commande.',
    handover: 'La boutique a encore besoin de votre adresse : ouvrez la commande et continuez vers la boutique.',
    date: 'Date et heure',
    venue: 'Lieu',
    calendar: 'Ajouter à l’agenda',
    why: 'Vous recevez ce message parce que vous avez laissé cette adresse avec votre commande.',
  },
  es: {
    confirmed: ['Tu pedido está confirmado: {sale}', 'Gracias. Tu pago ha llegado y tu pedido está confirmado.'],
    declined: [
      'Tu pedido no se pudo pagar: {sale}',
      'Tu pago fue rechazado y el pedido ha terminado. No se ha cobrado nada. Lo que estaba reservado para ti ' +
        'vuelve a la venta.',
    ],
    cancelled: 'Tu pedido no salió adelante: {sale}',
    cancelledFor: {
      payment_timeout:
        'Tu banco no respondió a tiempo y el pedido ha terminado. No queda nada cobrado: lo que tu banco pudo ' +
        'retener se libera por sí solo. Si todavía lo quieres, vuelve a la venta y elige otra vez.',
      not_authenticated:
        'El pago no se confirmó a tiempo con tu banco y el pedido ha terminado. No queda nada cobrado. Si ' +
        'todavía lo quieres, vuelve a la venta, elige otra vez y confirma cuando tu banco lo pida.',
      oversold:
        'Por un error nuestro se vendió más de lo que había, y tu pedido era uno de más. Lo sentimos. Lo que se ' +
        'cobró se reembolsa, y no tienes que hacer nada.',
      no_stock:
        'Mientras se registraba tu pedido, lo último fue para otras personas. No se ha cobrado nada. Lo que se ' +
        'devuelve sale otra vez a la venta: mira la página de la venta.',
      limit:
        'Ya tenías un pedido en esta venta, y este superaba lo que puede tener una persona. El otro sigue en ' +
        'pie, y por este no se ha cobrado nada. No tienes que hacer nada.',
      replay: 'Nos llegó dos veces. Cuenta el otro, que está entre tus pedidos; por este no se ha cobrado nada.',
      seat_taken:
        'Mientras se registraba tu pedido, otra persona obtuvo estos asientos. No se ha cobrado nada. Puedes ' +
        'elegir otros asientos en la página de la venta.',
      price_changed:
        'Mientras se registraba tu pedido, la tienda cambió el precio. No se ha cobrado nada. Mira el nuevo ' +
        'precio en la página de la venta, y pide otra vez si te conviene.',
      too_many:
        'Pedidos tuyos anteriores se devolvieron o quedaron sin pagar, y otras personas van primero. Por este ' +
        'no se ha cobrado nada. Si todavía lo quieres, vuelve a la venta más tarde; si es un error, pregunta a ' +
        'la tienda.',
    },
    refunded: [
      'Tu pedido ha sido reembolsado: {sale}',
      'El precio completo está en camino de vuelta. Tu banco puede tardar unos días.',
    ],
    refundedInPart: [
      'Una parte de tu pedido ha sido reembolsada: {sale}',
      'Una parte del precio está en camino de vuelta. Tu banco puede tardar unos días.',
    ],
    holdEnds: [
      'Tu reserva termina pronto: {sale}',
      'En medio minuto aproximadamente, lo que está reservado para ti vuelve a la venta. Paga antes para conservarlo.',
    ],
    holdEnded: [
      'Tu reserva ha terminado: {sale}',
      'No se pagó a tiempo y no se ha cobrado nada. Si todavía lo quieres, puedes volver a la fila.',
    ],
    sent: ['Tu pedido está en camino: {sale}', 'Tu pedido ha sido enviado.'],
    turnNear: ['Tu turno se acerca: {sale}', 'En unos {t} será tu turno. Ten a mano tu dirección y tu tarjeta.'],
    turn: ['Es tu turno: {sale}', 'Abre tu página ahora: tu turno te espera solo unos minutos.'],
    soldOut: [
      'Agotado: {sale}',
      'Todo se vendió antes de tu turno. En la página de la venta puedes pedir un correo por si llega más.',
    ],
    restocked: ['Ha llegado más: {sale}', 'Lo que estaba agotado vuelve a estar a la venta, hasta fin de existencias.'],
    toLine: 'Ir a la fila',
    toSale: 'Ir a la venta',
    stop: 'No enviarme más correos de este tipo',
    whyAsked: 'Recibes este correo porque alguien lo pidió con esta dirección en la página de la venta.',
    product: 'Producto',
    ticket: 'Entrada',
    row: 'fila',
    seat: 'asiento',
    discount: 'Descuento {code}',
    shipping: 'Envío',
    included: '{name}, incluido',
    total: 'Total',
    refundedSoFar: 'Reembolsado en total',
    order: 'Número de pedido',
    show: 'Ver el pedido',
    sentTo: 'Se envía a:',
    pickUp: 'Recógelo aquí: {where}',
    pickUpLater: 'La tienda te dirá dónde y cuándo recogerlo.',
    handover: 'La tienda aún necesita tu dirección: abre el pedido y sigue desde allí a la tienda.',
    date: 'Fecha y hora',
    venue: 'Lugar',
    calendar: 'Añadir al calendario',
    why: 'Recibes este correo porque dejaste esta dirección con tu pedido.',
  },
  ja: {
    confirmed: ['ご注文が確定しました：{sale}', 'ありがとうございます。お支払いを確認し、ご注文が確定しました。'],
    declined: [
      'お支払いができませんでした：{sale}',
      'お支払いが承認されず、ご注文は終了しました。請求は発生していません。お取り置きの品は再び販売されます。',
    ],
    cancelled: 'ご注文は成立しませんでした：{sale}',
    cancelledFor: {
      payment_timeout:
        '時間内に決済の結果が届かなかったため、ご注文は終了しました。請求は残りません。カード会社が確保した枠は自動的に解放されます。まだご希望の場合は、販売ページに戻って選び直してください。',
      not_authenticated:
        '時間内にカード会社での認証が行われなかったため、ご注文は終了しました。請求は残りません。まだご希望の場合は、販売ページに戻って選び直し、カード会社の画面で認証してください。',
      oversold:
        '当方の誤りで在庫より多く販売され、あなたのご注文がその超過分でした。申し訳ございません。請求された分は返金されます。お手続きは不要です。',
      no_stock:
        'ご注文を記録しているあいだに、最後の商品が売れました。請求は発生していません。取り消された分は再び販売されますので、販売ページをご覧ください。',
      limit:
        'この販売ではすでにご注文があり、こちらはお一人様の上限を超えていました。先のご注文はそのままで、こちらの請求はありません。お手続きは不要です。',
      replay: '同じご注文が二度届きました。有効なのはもう一方で、ご注文の一覧にあります。こちらの請求はありません。',
      seat_taken:
        'ご注文を記録しているあいだに、ほかの方がこの席を取りました。請求は発生していません。販売ページで別の席をお選びいただけます。',
      price_changed:
        'ご注文を記録しているあいだに、ショップが価格を変更しました。請求は発生していません。販売ページで新しい価格をご確認のうえ、よろしければもう一度ご注文ください。',
      too_many:
        '以前のご注文が取り消されたか支払われなかったため、ほかの方が優先されます。こちらの請求はありません。まだご希望の場合は、後ほど販売ページにお戻りください。お心当たりがない場合は、ショップにお尋ねください。',
    },
    refunded: ['ご注文を返金しました：{sale}', '全額を返金いたしました。銀行での反映に数日かかることがあります。'],
    refundedInPart: [
      'ご注文の一部を返金しました：{sale}',
      '代金の一部を返金いたしました。銀行での反映に数日かかることがあります。',
    ],
    holdEnds: [
      'お取り置きがまもなく終わります：{sale}',
      '約30秒後に、お取り置きの品は再び販売されます。ご希望の場合は、それまでにお支払いください。',
    ],
    holdEnded: [
      'お取り置きが終わりました：{sale}',
      '時間内にお支払いがありませんでした。請求は発生していません。まだご希望の場合は、もう一度お並びいただけます。',
    ],
    sent: ['ご注文の品を発送しました：{sale}', 'ご注文の品を発送しました。'],
    turnNear: ['まもなく順番です：{sale}', 'あと約{t}で順番です。お届け先とカードをご用意ください。'],
    turn: ['順番が来ました：{sale}', '今すぐページを開いてください。お待ちできるのは数分間です。'],
    soldOut: [
      '売り切れました：{sale}',
      '順番の前にすべて売り切れました。入荷のお知らせは、販売ページでお申し込みいただけます。',
    ],
    restocked: ['再入荷しました：{sale}', '売り切れていた品を再び販売しています。なくなり次第終了します。'],
    toLine: '列へ進む',
    toSale: '販売ページへ',
    stop: 'このようなメールを受け取らない',
    whyAsked: 'このメールは、販売ページでこのアドレスを使ってお申し込みがあったためお送りしています。',
    product: '商品',
    ticket: 'チケット',
    row: '列',
    seat: '座席',
    discount: '割引 {code}',
    shipping: '送料',
    included: '{name}（価格に含む）',
    total: '合計',
    refundedSoFar: '返金額の合計',
    order: '注文番号',
    show: '注文を見る',
    sentTo: 'お届け先：',
    pickUp: 'お受け取り場所：{where}',
    pickUpLater: 'お受け取りの場所と日時は、ショップからお知らせします。',
    handover: 'ショップでお届け先の入力が必要です。注文を開き、ショップへお進みください。',
    date: '日時',
    venue: '会場',
    calendar: 'カレンダーに追加',
    why: 'このメールは、ご注文の際にこのアドレスを入力された方にお送りしています。',
  },
  ar: {
    confirmed: ['تم تأكيد طلبك: {sale}', 'شكرًا لك. وصلت دفعتك وتم تأكيد طلبك.'],
    declined: [
      'تعذّر دفع طلبك: {sale}',
      'رُفضت دفعتك وانتهى الطلب. لم يُخصم أي مبلغ. ما كان محجوزًا لك معروض للبيع من جديد.',
    ],
    cancelled: 'لم يكتمل طلبك: {sale}',
    cancelledFor: {
      payment_timeout:
        'لم يجب مصرفك في الوقت المناسب، فانتهى الطلب. لا يبقى أي مبلغ مخصومًا: ما قد يكون مصرفك حجزه يتحرر ' +
        'تلقائيًا. إذا كنت لا تزال تريده، فعد إلى البيع واختر من جديد.',
      not_authenticated:
        'لم يُؤكَّد الدفع لدى مصرفك في الوقت المناسب، فانتهى الطلب. لا يبقى أي مبلغ مخصومًا. إذا كنت لا تزال ' +
        'تريده، فعد إلى البيع واختر من جديد وأكّد عندما يطلب مصرفك ذلك.',
      oversold:
        'بخطأ منّا بيع أكثر مما كان متوفرًا، وكان طلبك زائدًا عن الكمية. نأسف لذلك. يُرد ما تم خصمه، وليس عليك ' +
        'فعل شيء.',
      no_stock:
        'أثناء تسجيل طلبك ذهبت آخر القطع إلى آخرين. لم يُخصم أي مبلغ. ما يُعاد يُعرض للبيع من جديد: انظر صفحة البيع.',
      limit:
        'كان لديك طلب في هذا البيع، وتجاوز هذا الطلب ما يحق للشخص الواحد. يبقى الطلب الآخر، ولم يُخصم أي مبلغ ' +
        'عن هذا. ليس عليك فعل شيء.',
      replay: 'وصلنا مرتين. الطلب الآخر هو المعتمد، وتجده بين طلباتك؛ ولم يُخصم أي مبلغ عن هذا.',
      seat_taken:
        'أثناء تسجيل طلبك حصل شخص آخر على هذه المقاعد. لم يُخصم أي مبلغ. يمكنك اختيار مقاعد أخرى في صفحة البيع.',
      price_changed:
        'أثناء تسجيل طلبك غيّر المتجر السعر. لم يُخصم أي مبلغ. انظر السعر الجديد في صفحة البيع، واطلب من جديد ' +
        'إن ناسبك.',
      too_many:
        'أُعيدت طلبات سابقة لك أو لم يُدفع ثمنها، ويأتي غيرك أولًا. لم يُخصم أي مبلغ عن هذا الطلب. إذا كنت لا ' +
        'تزال تريده، فعد إلى البيع لاحقًا؛ وإن كان ذلك خطأ فاسأل المتجر.',
    },
    refunded: ['تم رد ثمن طلبك: {sale}', 'المبلغ كاملًا في طريقه إليك. قد يستغرق البنك بضعة أيام.'],
    refundedInPart: ['تم رد جزء من ثمن طلبك: {sale}', 'جزء من المبلغ في طريقه إليك. قد يستغرق البنك بضعة أيام.'],
    holdEnds: ['حجزك على وشك الانتهاء: {sale}', 'بعد نحو نصف دقيقة يعود ما حُجز لك إلى البيع. ادفع قبل ذلك لتحتفظ به.'],
    holdEnded: [
      'انتهى حجزك: {sale}',
      'لم يُدفع في الوقت المحدد، ولم يُخصم أي مبلغ. إذا كنت لا تزال تريده، يمكنك الانضمام إلى الصف.',
    ],
    sent: ['طلبك في الطريق: {sale}', 'تم إرسال طلبك.'],
    turnNear: ['اقترب دورك: {sale}', 'يحين دورك بعد نحو {t}. جهّز عنوانك وبطاقتك.'],
    turn: ['حان دورك: {sale}', 'افتح صفحتك الآن: دورك ينتظرك بضع دقائق فقط.'],
    soldOut: ['نفدت الكمية: {sale}', 'بيع كل شيء قبل دورك. يمكنك أن تطلب في صفحة البيع رسالة إذا وصل المزيد.'],
    restocked: ['وصل المزيد: {sale}', 'ما نفد معروض للبيع من جديد، حتى نفاد الكمية.'],
    toLine: 'إلى الصف',
    toSale: 'إلى البيع',
    stop: 'لا ترسلوا لي مثل هذه الرسائل',
    whyAsked: 'تصلك هذه الرسالة لأن شخصًا طلبها بهذا العنوان في صفحة البيع.',
    product: 'المنتج',
    ticket: 'تذكرة',
    row: 'صف',
    seat: 'مقعد',
    discount: 'خصم {code}',
    shipping: 'الشحن',
    included: '{name}، مشمولة',
    total: 'المجموع',
    refundedSoFar: 'المبلغ المردود إجمالًا',
    order: 'رقم الطلب',
    show: 'عرض الطلب',
    sentTo: 'يُرسل إلى:',
    pickUp: 'استلمه هنا: {where}',
    pickUpLater: 'سيخبرك المتجر أين ومتى تستلمه.',
    handover: 'لا يزال المتجر بحاجة إلى عنوانك: افتح الطلب وتابع منه إلى المتجر.',
    date: 'الموعد',
    venue: 'المكان',
    calendar: 'أضف إلى التقويم',
    why: 'تصلك هذه الرسالة لأنك تركت هذا العنوان مع طلبك.',
  },
}
