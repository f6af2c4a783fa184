/** The fields of an endpoint: its address, its events, and its name. */

import { textIn } from '../../format.ts'
import { Labelled } from '../../sheet/controls.tsx'
import type { Change, Endpoint } from './calls.ts'

export function EndpointFields({ endpoint }: { readonly endpoint?: Endpoint }) {
  return (
    <>
      <Labelled
        label="Address"
        input={{
          name: 'url',
          type: 'url',
          required: true,
          maxLength: 2000,
          defaultValue: endpoint?.url,
          placeholder: 'https://shop.example/hooks',
        }}
      />
      <label class="label">
        Events, or * for all
        <span class="field">
          <textarea name="events" rows={3} required defaultValue={endpoint?.events.join('\n') ?? '*'} />
        </span>
        <small class="note">one a line, such as order.confirmed</small>
      </label>
      <Labelled
        label="Name, for operators"
        input={{ name: 'note', maxLength: 200, defaultValue: endpoint?.note, autoComplete: 'off' }}
      />
    </>
  )
}

/** The API validates the values. */
export const changeIn = (form: FormData): Change => ({
  url: textIn(form, 'url'),
  events: textIn(form, 'events').split(/[\s,]+/),
  note: textIn(form, 'note'),
})
