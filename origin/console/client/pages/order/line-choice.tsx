/** Fields of the dialogs about an order: its lines, and a reason for the records. */

import { money } from '../../../../../shared/format.ts'
import { textIn } from '../../format.ts'
import { lineName, type Order, openLines } from './order.ts'

export const linesIn = (form: FormData) => form.getAll('line').map(Number)

/** The reason that the operator typed, if any. */
export function reasonIn(form: FormData): { reason?: string } {
  const reason = textIn(form, 'reason')
  return reason === '' ? {} : { reason }
}

interface RemarkProps {
  readonly name: string
  readonly label: string
  /** What is typed most often. */
  readonly proposals?: readonly string[]
}

/** A text for the audit log, which may be left out. */
export const Remark = ({ name, label, proposals = [] }: RemarkProps) => (
  <label class="label">
    <span>
      {label} <small class="quiet">for the records, may be left out</small>
    </span>
    <span class="field">
      <input
        name={name}
        maxLength={200}
        autocomplete="off"
        list={proposals.length > 0 ? `proposed-${name}` : undefined}
      />
    </span>
    {proposals.length > 0 && (
      <datalist id={`proposed-${name}`}>
        {proposals.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    )}
  </label>
)

interface LineChoiceProps {
  readonly order: Order
  /** The lines to choose from; if left out, those that can still be returned. */
  readonly lines?: Order['lines']
  readonly legend: string
  readonly onChange?: (form: FormData) => void
}

/** A checkbox for each order line. */
export const LineChoice = ({ order, lines = openLines(order), legend, onChange }: LineChoiceProps) => (
  <fieldset
    class="line-choice"
    onChange={({ target }) => {
      const { form } = target as HTMLInputElement
      if (form) onChange?.(new FormData(form))
    }}
  >
    <legend class="small quiet">{legend}</legend>
    {lines.map((one) => (
      <label key={one.line} class="check">
        <input type="checkbox" name="line" value={one.line} />
        <span>
          {lineName(one)}, {money('en', one.cost_minor, order.currency)}
        </span>
      </label>
    ))}
  </fieldset>
)
