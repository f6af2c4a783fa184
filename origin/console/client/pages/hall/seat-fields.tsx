/** Chooses seats by their names, for a screen reader, a phone, or an operator with a list. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { Hall } from '../../../../../shared/hall/hall-model.ts'
import { Choose, Failure } from '../../parts.tsx'
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
  return (
    <form class="seat-fields" onSubmit={add}>
      <Choose
        label="Section"
        value={sectionId.value}
        options={sections.map(({ id, name }) => [id, name] as const)}
        onChoose={(value) => (sectionId.value = value)}
      />
      <Choose
        label="Row"
        value={rowName}
        options={names.map((name) => [name, name] as const)}
        onChoose={(value) => (row.value = value)}
      />
      <label>
        Seats
        <input name="numbers" placeholder="1-4, 7" autocomplete="off" maxLength={200} />
      </label>
      <button type="submit">Choose them</button>
      <small class="quiet">Without numbers: the whole row.</small>
      <Failure error={error.value} />
    </form>
  )
}
