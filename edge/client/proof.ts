/**
 * The proof of work on the page: ALTCHA's widget, in the form that keeps to a strict content security policy, with the
 * one algorithm that the edge asks for. Only pages that ask for a proof load it.
 */
import 'altcha/external'
import 'altcha/i18n/de'

/** Where the worker's script is; build.ts puts it in. */
declare const __PROOF_WORKER__: string

declare const $altcha: { readonly algorithms: Map<string, () => Worker> }

$altcha.algorithms.set('SCRYPT', () => new Worker(__PROOF_WORKER__))
