/**
 * A demo drop that shows the features of a sale: sizes, pictures, a brand, taxes, shipping, a promo code and words in
 * six languages.
 */

import type { Texts } from '../../shared/api/fields.ts'
import type { PromoCode } from '../../shared/api/goods.ts'
import type { SaleConfig } from '../../shared/api/operators/sale-config.ts'
import { drawLogo } from './pictures.ts'
import { drawShoe, type ShoeView } from './shoe.ts'

const PRODUCT = 'aurora-one'
/** The number of pairs by size. There are few of the smallest and largest sizes, as in a real delivery. */
const PAIRS = {
  '36': 3,
  '37': 6,
  '37.5': 8,
  '38': 12,
  '38.5': 14,
  '39': 16,
  '40': 18,
  '41': 20,
  '42': 24,
  '42.5': 16,
  '43': 14,
  '44': 10,
  '45': 4,
  '46': 2,
} as const
/** In the order of their numbers, in which an object does not have them: whole numbers come first there. */
export const SIZES = Object.entries(PAIRS)
  .map(([size, total]) => ({ size, total }))
  .toSorted((a, b) => Number(a.size) - Number(b.size))

const NAMES = {
  en: 'Aurora One',
  de: 'Aurora One',
  fr: 'Aurora One',
  es: 'Aurora One',
  ja: 'オーロラ・ワン',
  ar: 'أورورا ون',
}
const SIZE_NAMES = { de: 'Größe', fr: 'Pointure', es: 'Talla', ja: 'サイズ', ar: 'المقاس' }
const DESCRIPTION = {
  en:
    'A light running shoe for **long evenings**. Its upper takes the colours of the northern lights; the sole is ' +
    'foam made from castor beans.\n\n- 238 g in size 42\n- Drop of 8 mm\n- Knitted from recycled yarn',
  de:
    'Ein leichter Laufschuh für **lange Abende**. Das Obermaterial hat die Farben des Nordlichts, die Sohle ist ' +
    'aus Schaum von Rizinusbohnen.\n\n- 238 g in Größe 42\n- Sprengung von 8 mm\n- Gestrickt aus ' +
    'wiederverwertetem Garn',
  fr:
    'Une chaussure de course légère pour les **longues soirées**. Sa tige prend les couleurs des aurores boréales ' +
    '; la semelle est une mousse à base de ricin.\n\n- 238 g en pointure 42\n- Drop de 8 mm\n- Tricotée en fil ' +
    'recyclé',
  es:
    'Una zapatilla ligera para **tardes largas**. La parte superior tiene los colores de la aurora boreal; la ' +
    'suela es espuma de ricino.\n\n- 238 g en la talla 42\n- Drop de 8 mm\n- Tejida con hilo reciclado',
  ja: '**長い夜**のための軽いランニングシューズ。アッパーはオーロラの色、ソールはひまし油から作ったフォームです。\n\n- 42サイズで238 g\n- ドロップ8 mm\n- 再生糸のニット',
  ar:
    'حذاء جري خفيف **للأمسيات الطويلة**. وجهه بألوان الشفق القطبي، ونعله من رغوة زيت الخروع.\n\n- ٢٣٨ غرامًا ' +
    'للمقاس ٤٢\n- فرق الارتفاع ٨ مم\n- محبوك من خيوط معاد تدويرها',
}
const TERMS = {
  en: 'One pair for each person. Shoes that were worn cannot be returned.',
  de: 'Ein Paar pro Person. Getragene Schuhe können nicht zurückgegeben werden.',
  fr: 'Une paire par personne. Les chaussures portées ne sont pas reprises.',
  es: 'Un par por persona. Las zapatillas usadas no se pueden devolver.',
  ja: 'お一人様一足限り。着用後の返品はできません。',
  ar: 'زوج واحد لكل شخص. لا يمكن إرجاع الأحذية بعد لبسها.',
}
const PICTURES: Readonly<Record<ShoeView, string>> = {
  side: 'A green running shoe from the side, before northern lights',
  pair: 'The pair, one shoe lifted',
  above: 'The pair from above',
}

const NEAR = ['DE', 'AT']
const EUROPE = ['BE', 'CH', 'DK', 'ES', 'FR', 'GB', 'IE', 'IT', 'NL', 'NO', 'PL', 'PT', 'SE']
const OVERSEAS = ['AE', 'AU', 'CA', 'JP', 'SA', 'US']
/** The prices for one pair in its box, and for more. */
const byWeight = (countries: string[], one: number, more: number) => [
  { countries, up_to_grams: 1_500, amount_minor: one },
  { countries, amount_minor: more },
]

/** `upload` stores a picture and returns its address. */
export async function auroraSale(upload: (picture: Buffer) => Promise<string>): Promise<Partial<SaleConfig>> {
  const images: { url: string; alt: string }[] = []
  for (const [view, alt] of Object.entries(PICTURES))
    images.push({ url: await upload(await drawShoe(view as ShoeView)), alt })
  const [hero] = images
  return {
    name: 'Aurora One',
    limit_per_visitor: 1,
    products: [
      {
        product_id: PRODUCT,
        name: NAMES.en,
        names: NAMES,
        subtitle: { en: 'First edition', de: 'Erste Auflage' },
        description: DESCRIPTION,
        images,
        options: [{ name: 'Size', names: SIZE_NAMES, values: SIZES.map(({ size }) => size) }],
        variants: SIZES.map(({ size, total }) => ({
          variant_id: `${PRODUCT}-${size.replace('.', '-')}`,
          options: { Size: size },
          total,
          buffer: 0,
          sku: `A1-${size}`,
        })),
        unit_price_minor: 18_900,
        currency: 'EUR',
        total: 0,
        buffer: 0,
        limit: 1,
        terms: TERMS,
        tags: ['running', 'limited'],
        weight_grams: 1_200,
      },
    ],
    brand: {
      shop: 'Halfway',
      logo: await upload(await drawLogo()),
      accent: '#00674b',
      ...(hero && { hero: hero.url }),
    },
    seller: { name: 'Halfway GmbH', address: 'Harbour Street 4\n10115 Berlin', tax_id: 'DE123456789' },
    tax: { name: 'VAT', percent: 19, included: true },
    delivery: {
      kind: 'address',
      countries: [...NEAR, ...EUROPE, ...OVERSEAS],
      prices: [...byWeight(NEAR, 490, 790), ...byWeight(EUROPE, 990, 1_490), ...byWeight(OVERSEAS, 2_490, 3_990)],
      ask: { name: 'required', phone: 'optional', company: 'optional', note: 'optional' },
    },
    contact: { email: 'required', address: false, retention_days: 30 },
  }
}

export const AURORA_CODES: readonly Partial<PromoCode>[] = [
  { code: 'NOON10', percent: 10, uses: 100, uses_per_visitor: 1 },
]

/** The shop's posts, the oldest first; those with `pictured` have a picture of the pair. */
export const AURORA_POSTS: readonly { readonly text: Texts; readonly pictured?: true }[] = [
  {
    text: {
      en: 'How a wave is made: each upper goes through the bath once, by hand, at an angle nobody measures.',
      de:
        'So entsteht eine Welle: Jedes Obermaterial geht einmal von Hand durch das Bad, in einem Winkel, den ' +
        'niemand misst.',
      fr:
        'Comment naît une vague : chaque tige passe une fois dans le bain, à la main, à un angle que personne ne ' +
        'mesure.',
      es: 'Así nace una ola: cada corte pasa una vez por el baño, a mano, en un ángulo que nadie mide.',
      ja: '波模様の作り方：アッパーは一枚ずつ手作業で、誰も測らない角度で一度だけ染料に浸します。',
      ar: 'هكذا تُصنع الموجة: يمر كل وجه في الحمّام مرة واحدة باليد، بزاوية لا يقيسها أحد.',
    },
    pictured: true,
  },
  {
    text: {
      en: 'Which size? Stand on paper, mark heel and toe: 26.5 cm is 42, 27.3 cm is 43.',
      de: 'Welche Größe? Stell dich auf Papier und markiere Ferse und Zehen: 26,5 cm sind 42, 27,3 cm sind 43.',
      fr:
        'Quelle taille ? Posez le pied sur une feuille, marquez talon et orteils : 26,5 cm font du 42, 27,3 cm du ' +
        '43.',
      es: '¿Qué talla? Pisa un papel y marca talón y dedos: 26,5 cm es la 42, 27,3 cm la 43.',
      ja: 'サイズの目安：紙の上に立ち、かかととつま先に印を。26.5 cmは42、27.3 cmは43です。',
      ar: 'أي مقاس؟ قف على ورقة وعلّم الكعب والأصابع: ٢٦٫٥ سم هو ٤٢، و٢٧٫٣ سم هو ٤٣.',
    },
  },
]
