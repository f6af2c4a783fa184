/** What people may write: text that others can read, which says the same to whoever sees it. Pure. */

/**
 * Characters that change the direction of what follows (Unicode Bidirectional Algorithm, UAX #9, 2). The marks that
 * only stand between letters may stand in longer texts, where Arabic and Hebrew need them.
 */
const STEERS = /\p{Bidi_Control}/u
const REVERSES = /[\u202a-\u202e\u2066-\u2069]/
/** No script stacks this many marks on one letter (UAX #15, 12: at most 30, for all that could ever exist). */
const STACKED_MARKS = /\p{M}{9}/u
/** Something that can be seen. Two fillers and the blank of Braille are letters and a symbol, which show nothing. */
const VISIBLE = /[^\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u
const CONTROL = /\p{Cc}/u
const CONTROL_BUT_LINE_BREAKS = /[^\P{Cc}\r\n\t]/u

/** What is wrong with a text, as a sentence's end; undefined if nothing is. An empty text is not wrong. */
export function textFault(text: string, { hasLines = false } = {}): string | undefined {
  if (!text.isWellFormed()) return 'must be well-formed Unicode'
  if ((hasLines ? CONTROL_BUT_LINE_BREAKS : CONTROL).test(text)) return 'no control characters'
  if ((hasLines ? REVERSES : STEERS).test(text)) return 'no characters that change the direction of writing'
  if (STACKED_MARKS.test(text)) return 'too many marks on one letter'
  return text === '' || VISIBLE.test(text) ? undefined : 'must show something'
}

/** The form in which texts are stored (Unicode normalization, UAX #15), so that equal ones are the same string. */
export const storedText = (text: string): string => text.normalize('NFC').trim()

/** Equal for texts that differ only in case, or in forms of letters such as half-width ones. */
export const sameName = (text: string): string => text.normalize('NFKC').toLowerCase()
