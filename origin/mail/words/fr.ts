import type { MailWords } from './mail-words.ts'

export const fr: MailWords = {
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
  turn: ["C'est votre tour : {sale}", 'Ouvrez votre page maintenant : votre tour ne vous attend que quelques minutes.'],
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
}
