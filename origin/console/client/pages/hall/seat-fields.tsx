/** Chooses seats by their names, for a screen reader, a phone, or an operator with a list. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { Hall } from '../../../../../shared/hall/hall-model.ts'
import { Dot } from '../../sheet/marks.tsx'
import { numbersIn } from './seats.ts'

interface SeatFieldsProps {
  readonly map: Hall
  readonly onAdd: (seats: readonly number[]) => void
}

export function SeatFields({ map, onAdd }: SeatFieldsProps) {
  const sections = useMemo(() => map.sections.filter(({ seats }) => seats.length > 0), [map])
  const rows = useMemo(
    () => new Map(sections.map(({ id, seats }) => [id, Map.groupBy(seats, ({ row }) => row)])),
    [map],
  )
  const sectionId = useSignal(sections[0]?.id ?? '')
  const row = useSignal('')
  const error = useSignal<unknown>(null)
  const ofSection = rows.get(sectionId.value) ?? new Map<string, never>()
  const names = [...ofSection.keys()]
  const rowName = ofSection.has(row.value) ? row.value : (names[0] ?? '')
  const add = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const seats = ofSection.get(rowName) ?? []
    const text = String(new FormData(form).get('numbers') ?? '').trim()
    try {
      const numbers = seats.map(({ number }) => number)
      const meant = new Set(text === '' ? numbers : numbersIn(text, numbers))
      onAdd(seats.flatMap(({ index, number }) => (meant.has(number) ? [index] : [])))
      error.value = null
      form.reset()
    } catch (wrong) {
      error.value = wrong
    }
  }
  const fault = error.value instanceof Error ? error.value.message : undefined
  return (
    <form class="stack close" aria-label="Seats by name" onSubmit={add}>
      <div class="seat-fields">
        <label class="field">
          <span class="unseen">Section</span>
          <select value={sectionId.value} onChange={({ currentTarget }) => (sectionId.value = currentTarget.value)}>
            {sections.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span class="unseen">Row</span>
          <select value={rowName} onChange={({ currentTarget }) => (row.value = currentTarget.value)}>
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class={fault === undefined ? 'field' : 'field is-bad'}>
          <span class="unseen">Seats</span>
          <input
            name="numbers"
            placeholder="1-4, 7"
            size={6}
            autocomplete="off"
            maxLength={200}
            aria-invalid={fault !== undefined}
            aria-describedby="seat-numbers"
          />
        </label>
        <button type="submit" class="btn" aria-label="Add these seats">
          Add
        </button>
      </div>
      <p id="seat-numbers" class={fault === undefined ? 'note' : 'note is-bad'} role="status">
        {fault !== undefined && <Dot level="bad" />}
        {fault} Without numbers: the whole row.
      </p>
    </form>
  )
}
