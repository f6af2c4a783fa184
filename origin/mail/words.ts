/** All texts of the mails, in each of their languages. */
import type { Language } from '../../shared/api/fields.ts'

export interface MailWords {
  /** Of each kind: the subject, and what has happened. `{sale}` is the sale's name. */
  readonly confirmed: readonly [subject: string, text: string]
  readonly declined: readonly [subject: string, text: string]
  readonly refunded: readonly [subject: string, text: string]
  readonly refundedInPart: readonly [subject: string, text: string]
  readonly product: string
  /** A seat, or places of a section. */
  readonly ticket: string
  readonly row: string
  readonly seat: string
  readonly total: string
  /** So far, where there are several refunds. */
  readonly refundedSoFar: string
  readonly order: string
  readonly show: string
  readonly why: string
}

export const WORDS: Readonly<Record<Language, MailWords>> = {
  en: {
    confirmed: ['Your order is confirmed: {sale}', 'Thank you. Your payment has arrived, and your order is confirmed.'],
    declined: [
      'Your order could not be paid: {sale}',
      'Your payment was declined, and the order has ended. Nothing was charged. What was set aside for you is for sale again.',
    ],
    refunded: [
      'Your order was refunded: {sale}',
      'The whole price is on its way back to you. Your bank may take some days.',
    ],
    refundedInPart: [
      'A part of your order was refunded: {sale}',
      'A part of the price is on its way back to you. Your bank may take some days.',
    ],
    product: 'Product',
    ticket: 'Ticket',
    row: 'row',
    seat: 'seat',
    total: 'Total',
    refundedSoFar: 'Refunded in all',
    order: 'Order number',
    show: 'Show the order',
    why: 'You get this mail because you left this address with your order.',
  },
  de: {
    confirmed: [
      'Deine Bestellung ist bestätigt: {sale}',
      'Danke. Deine Zahlung ist da, und deine Bestellung ist bestätigt.',
    ],
    declined: [
      'Deine Bestellung konnte nicht bezahlt werden: {sale}',
      'Deine Zahlung wurde abgelehnt, und die Bestellung ist beendet. Es wurde nichts abgebucht. Was für dich zurückgelegt war, ist wieder im Verkauf.',
    ],
    refunded: [
      'Deine Bestellung wurde erstattet: {sale}',
      'Der ganze Preis ist auf dem Weg zurück zu dir. Deine Bank braucht dafür vielleicht ein paar Tage.',
    ],
    refundedInPart: [
      'Ein Teil deiner Bestellung wurde erstattet: {sale}',
      'Ein Teil des Preises ist auf dem Weg zurück zu dir. Deine Bank braucht dafür vielleicht ein paar Tage.',
    ],
    product: 'Produkt',
    ticket: 'Ticket',
    row: 'Reihe',
    seat: 'Platz',
    total: 'Summe',
    refundedSoFar: 'Insgesamt erstattet',
    order: 'Bestellnummer',
    show: 'Bestellung anzeigen',
    why: 'Du bekommst diese Mail, weil du diese Adresse bei deiner Bestellung angegeben hast.',
  },
  fr: {
    confirmed: [
      'Votre commande est confirmée : {sale}',
      'Merci. Votre paiement est arrivé et votre commande est confirmée.',
    ],
    declined: [
      "Votre commande n'a pas pu être payée : {sale}",
      "Votre paiement a été refusé et la commande est close. Rien n'a été débité. Ce qui vous était réservé est de nouveau en vente.",
    ],
    refunded: [
      'Votre commande a été remboursée : {sale}',
      'La totalité du prix vous est rendue. Votre banque peut prendre quelques jours.',
    ],
    refundedInPart: [
      'Une partie de votre commande a été remboursée : {sale}',
      'Une partie du prix vous est rendue. Votre banque peut prendre quelques jours.',
    ],
    product: 'Produit',
    ticket: 'Billet',
    row: 'rang',
    seat: 'place',
    total: 'Total',
    refundedSoFar: 'Remboursé en tout',
    order: 'Numéro de commande',
    show: 'Voir la commande',
    why: 'Vous recevez ce message parce que vous avez laissé cette adresse avec votre commande.',
  },
  es: {
    confirmed: ['Tu pedido está confirmado: {sale}', 'Gracias. Tu pago ha llegado y tu pedido está confirmado.'],
    declined: [
      'Tu pedido no se pudo pagar: {sale}',
      'Tu pago fue rechazado y el pedido ha terminado. No se ha cobrado nada. Lo que estaba reservado para ti vuelve a la venta.',
    ],
    refunded: [
      'Tu pedido ha sido reembolsado: {sale}',
      'El precio completo está en camino de vuelta. Tu banco puede tardar unos días.',
    ],
    refundedInPart: [
      'Una parte de tu pedido ha sido reembolsada: {sale}',
      'Una parte del precio está en camino de vuelta. Tu banco puede tardar unos días.',
    ],
    product: 'Producto',
    ticket: 'Entrada',
    row: 'fila',
    seat: 'asiento',
    total: 'Total',
    refundedSoFar: 'Reembolsado en total',
    order: 'Número de pedido',
    show: 'Ver el pedido',
    why: 'Recibes este correo porque dejaste esta dirección con tu pedido.',
  },
  ja: {
    confirmed: ['ご注文が確定しました：{sale}', 'ありがとうございます。お支払いを確認し、ご注文が確定しました。'],
    declined: [
      'お支払いができませんでした：{sale}',
      'お支払いが承認されず、ご注文は終了しました。請求は発生していません。お取り置きの品は再び販売されます。',
    ],
    refunded: ['ご注文を返金しました：{sale}', '全額を返金いたしました。銀行での反映に数日かかることがあります。'],
    refundedInPart: [
      'ご注文の一部を返金しました：{sale}',
      '代金の一部を返金いたしました。銀行での反映に数日かかることがあります。',
    ],
    product: '商品',
    ticket: 'チケット',
    row: '列',
    seat: '座席',
    total: '合計',
    refundedSoFar: '返金額の合計',
    order: '注文番号',
    show: '注文を見る',
    why: 'このメールは、ご注文の際にこのアドレスを入力された方にお送りしています。',
  },
  ar: {
    confirmed: ['تم تأكيد طلبك: {sale}', 'شكرًا لك. وصلت دفعتك وتم تأكيد طلبك.'],
    declined: [
      'تعذّر دفع طلبك: {sale}',
      'رُفضت دفعتك وانتهى الطلب. لم يُخصم أي مبلغ. ما كان محجوزًا لك معروض للبيع من جديد.',
    ],
    refunded: ['تم رد ثمن طلبك: {sale}', 'المبلغ كاملًا في طريقه إليك. قد يستغرق البنك بضعة أيام.'],
    refundedInPart: ['تم رد جزء من ثمن طلبك: {sale}', 'جزء من المبلغ في طريقه إليك. قد يستغرق البنك بضعة أيام.'],
    product: 'المنتج',
    ticket: 'تذكرة',
    row: 'صف',
    seat: 'مقعد',
    total: 'المجموع',
    refundedSoFar: 'المبلغ المردود إجمالًا',
    order: 'رقم الطلب',
    show: 'عرض الطلب',
    why: 'تصلك هذه الرسالة لأنك تركت هذا العنوان مع طلبك.',
  },
}
