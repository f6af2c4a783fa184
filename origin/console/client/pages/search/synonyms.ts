/** Synonyms in the form in which an operator writes them: one line for each list, with commas. Pure. */
import type { Synonyms } from '../../../../../shared/api/front.ts'

export const linesOf = (synonyms: Synonyms): string => synonyms.map((words) => words.join(', ')).join('\n')

/** Throws an error that names the line if it has a single word. */
export function synonymsIn(text: string): Synonyms {
  const lists = text.split('\n').map((line) =>
    line
      .split(/[,،、]/)
      .map((word) => word.trim())
      .filter(Boolean),
  )
  const alone = lists.findIndex(({ length }) => length === 1)
  if (alone >= 0) throw new Error(`Line ${alone + 1} has one word alone: “${lists[alone]?.[0]}”.`)
  return lists.filter(({ length }) => length > 0)
}
