/**
 * The proof of work on the page: ALTCHA's widget in the variant that works with a strict content security policy,
 * with the single algorithm that the edge uses, and with the page's own texts. Only pages that require a proof load
 * it.
 */
import 'altcha/external'

/** The address of the worker's script, which build.ts inserts. */
declare const __PROOF_WORKER__: string

declare const $altcha: {
  readonly algorithms: Map<string, () => Worker>
  readonly defaults: { set(changes: object): void }
  readonly i18n: { get(language: string): object; set(language: string, texts: object): void }
}

$altcha.algorithms.set('SCRYPT', () => new Worker(__PROOF_WORKER__))
$altcha.defaults.set({ hideFooter: true, hideLogo: true, popoverPlacement: 'top' })
const { language = 'en', ...texts } = { ...document.getElementById('proof')?.dataset }
$altcha.i18n.set(language, { ...$altcha.i18n.get('en'), ...texts })
