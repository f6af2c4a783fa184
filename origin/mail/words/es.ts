import type { MailWords } from './mail-words.ts'

export const es: MailWords = {
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
}
