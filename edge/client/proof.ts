/**
 * The proof of work on the page: ALTCHA's widget, in the form that keeps to a strict content security policy, with the
 * one algorithm that the edge asks for and the page's own words. Only pages that ask for a proof load it.
 */
import 'altcha/external'

/** Where the worker's script is; build.ts puts it in. */
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
