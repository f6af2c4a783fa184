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

/** Both changes of a list of lines: what either removed is gone, and what either added is there, each line once. */
export function mergedLines(base: string, mine: string, theirs: string): string {
  const [old, own, other] = [base, mine, theirs].map((text) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  ) as [string[], string[], string[]]
  const kept = other.filter((line) => own.includes(line) || !old.includes(line))
  const added = own.filter((line) => !old.includes(line) && !kept.includes(line))
  return [...kept, ...added].join('\n')
}
