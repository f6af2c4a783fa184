/** The index beside the form: its sections, each with what is wrong, to decide and changed in it. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Dot, type Mark } from '../../sheet/marks.tsx'
import { SECTIONS, type SectionId, sectionOf } from './changes/field-words.ts'
import type { Part } from './draft.ts'
import type { SaleForm } from './use-sale-form.ts'

/** The sections of a page that lists more of them than it has; a new sale has its products on the first page, too. */
const placeOf = (path: string, part: Part): SectionId => {
  const section = sectionOf(path)
  return part === 'sale' && section === 'products' ? 'stock' : section
}

interface Counts {
  readonly wrong: number
  readonly decide: number
  readonly changed: number
}

/** What stands in each section. A field counts once, as the worst that it is. */
function countsOf(form: Pick<SaleForm, 'changes' | 'undecided' | 'shown'>, part: Part): Map<SectionId, Counts> {
  const counts = new Map<SectionId, Counts>()
  const seen = new Set<string>()
  const add = (path: string, name: keyof Counts) => {
    if (seen.has(path)) return
    seen.add(path)
    const section = placeOf(path, part)
    const now = counts.get(section) ?? { wrong: 0, decide: 0, changed: 0 }
    counts.set(section, { ...now, [name]: now[name] + 1 })
  }
  for (const path of form.shown.keys()) add(path, 'wrong')
  for (const { path } of form.undecided) add(path, 'decide')
  for (const { path } of form.changes) add(path, 'changed')
  return counts
}

const MARKS = [
  ['wrong', 'bad', 'wrong'],
  ['decide', 'watch', 'to decide'],
  ['changed', 'info', 'changed'],
] as const satisfies readonly (readonly [keyof Counts, Mark, string])[]

function Tallies({ counts }: { readonly counts: Counts | undefined }) {
  if (!counts) return null
  return (
    <>
      {MARKS.map(
        ([name, level, text]) =>
          counts[name] > 0 && (
            <span key={name} class={`tag is-${level}`}>
              <Dot level={level} />
              {counts[name]}
              <span class="unseen"> {text}</span>
            </span>
          ),
      )}
    </>
  )
}

/** The section that is read now is the last one that begins above this share of the window. */
const READ_AT = 0.35

export function SectionIndex({ form, part }: { readonly form: SaleForm; readonly part: Part }) {
  const counts = countsOf(form, part)
  const ids = SECTIONS[part].map(([id]) => id)
  const current = useSignal<SectionId>(ids[0] ?? 'name')
  useEffect(() => {
    const look = () => {
      const begun = ids.filter((id) => {
        const top = document.getElementById(id)?.getBoundingClientRect().top
        return top !== undefined && top < innerHeight * READ_AT
      })
      const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2
      current.value = (isAtEnd ? ids.at(-1) : begun.at(-1)) ?? ids[0] ?? 'name'
    }
    addEventListener('scroll', look, { passive: true })
    return () => removeEventListener('scroll', look)
  }, [part])
  return (
    <nav class="toc" aria-label="Sections">
      {SECTIONS[part].map(([id, title]) => (
        <a key={id} href={`#${id}`} aria-current={current.value === id ? 'true' : undefined}>
          {title}
          <Tallies counts={counts.get(id)} />
        </a>
      ))}
    </nav>
  )
}
