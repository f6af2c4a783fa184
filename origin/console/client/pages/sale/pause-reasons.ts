/** Predefined reasons of a pause in every language, as visitors read them. */
import type { Language } from '../../../../../shared/api/fields.ts'

type Reason = Readonly<Record<Language, string>>

export const PAUSE_REASONS: Readonly<Record<string, { readonly name: string; readonly text: Reason }>> = {
  payments: {
    name: 'Payments are slow',
    text: {
      en: 'Payments are slow. Your place is kept.',
      de: 'Das Bezahlen dauert länger. Ihr Platz bleibt erhalten.',
      fr: 'Les paiements sont lents. Votre place est gardée.',
      es: 'Los pagos van lentos. Guardamos su lugar.',
      ja: 'お支払いに時間がかかっています。順番はそのままです。',
      ar: 'الدفع بطيء الآن. مكانك محفوظ.',
    },
  },
  mending: {
    name: 'Something is being mended',
    text: {
      en: 'We are mending something. Your place is kept.',
      de: 'Wir beheben gerade eine Störung. Ihr Platz bleibt erhalten.',
      fr: 'Nous réparons un problème. Votre place est gardée.',
      es: 'Estamos resolviendo un problema. Guardamos su lugar.',
      ja: 'ただいま不具合に対応しています。順番はそのままです。',
      ar: 'نصلح عطلًا الآن. مكانك محفوظ.',
    },
  },
  stock: {
    name: 'The stock is being checked',
    text: {
      en: 'We are checking the stock. Your place is kept.',
      de: 'Wir prüfen den Bestand. Ihr Platz bleibt erhalten.',
      fr: 'Nous vérifions le stock. Votre place est gardée.',
      es: 'Estamos revisando las existencias. Guardamos su lugar.',
      ja: '在庫を確認しています。順番はそのままです。',
      ar: 'نتحقق من الكمية المتوفرة. مكانك محفوظ.',
    },
  },
}

/** What visitors read of a pause without a reason. */
export const NO_REASON: Reason = {
  en: 'The sale is paused. Your place is kept.',
  de: 'Der Verkauf macht Pause. Ihr Platz bleibt erhalten.',
  fr: 'La vente est en pause. Votre place est gardée.',
  es: 'La venta está en pausa. Guardamos su lugar.',
  ja: '販売を一時停止しています。順番はそのままです。',
  ar: 'البيع متوقف مؤقتًا. مكانك محفوظ.',
}
