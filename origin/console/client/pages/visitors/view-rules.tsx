/** The rules by which views count, for all sales, and a new one, which is tried on the last hours before it counts. */
import { type Signal, useSignal } from '@preact/signals'
import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query'
import { useEffect, useRef } from 'preact/hooks'
import type { RuleState, ViewRule } from '../../../../../shared/api/operators/views.ts'
import { admin, read } from '../../api.ts'
import { count, figure, moment } from '../../format.ts'
import { Confirm, Failure } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Labelled } from '../../sheet/controls.tsx'
import { Dialog } from '../../sheet/dialog.tsx'
import { State } from '../../sheet/marks.tsx'
import { Fold, Section } from '../../sheet/page.tsx'
import { type Done, say } from '../../toast.tsx'
import { effectOf, inWords, KINDS, type Kind, ruleIn } from './view-rule.ts'

const REFRESH_MS = 5_000
/** A new rule is tried on this many hours of the raw log. */
const TRIED_HOURS = 24
const KEY = ['view-rules']

const { 'view-rules': calls } = admin
const readRules = async () => (await read(calls.$get())).rules as readonly RuleState[]
/** The list without what the rules have done, which the API does not take. */
const settingsOf = (rules: readonly RuleState[]): ViewRule[] =>
  rules.map(({ dropped: _, examples: __, ...rule }) => rule as ViewRule)
const set = (rules: readonly object[]) => calls.$put({ json: { rules: rules as ViewRule[] } })

/** Changes the list as it is now; the undo puts the former list back. */
async function change(text: string, make: (rules: ViewRule[]) => readonly object[]): Promise<Done> {
  const before = settingsOf(await readRules())
  await set(make(before))
  return {
    text,
    undo: async () => {
      await set(before)
      return { text: 'The rules are as they were before.' }
    },
  }
}

export function ViewRules({ seen }: { readonly sale: string; readonly seen: number }) {
  const { data = [], error } = useQuery({ queryKey: KEY, queryFn: readRules, refetchInterval: REFRESH_MS })
  return (
    <Section
      title="What counts as a view"
      aside={<span class="small quiet">for all sales; dropped in the last 24 hours</span>}
    >
      <Failure error={error} />
      <ol class="view-rules">
        {data.map((rule) => (
          <li key={rule.rule} class={rule.on ? undefined : 'off'}>
            <div class="row spread">
              <p>
                <b>{inWords(rule)}</b> {effectOf(rule)}
                {!rule.on && <State level="off">switched off</State>}
                {rule.note !== '' && <span class="small quiet"> {rule.note}</span>}
              </p>
              <p class="n">
                <b>{count(rule.dropped)}</b>
                {seen > 0 && rule.dropped > 0 && (
                  <span class="small quiet"> {figure((100 * rule.dropped) / Math.max(rule.dropped, seen))} %</span>
                )}
              </p>
              {may('operator') && (
                <p class="row">
                  <Confirm
                    action={rule.on ? 'Switch off' : 'Switch on'}
                    name={`${rule.on ? 'Switch off' : 'Switch on'}: ${inWords(rule)}`}
                    look="bare"
                    effect="It is in force within 60 s, for views from then on. Undo: switch it back."
                    onConfirm={() =>
                      change(`${inWords(rule)}: ${rule.on ? 'switched off' : 'switched on'}.`, (rules) =>
                        rules.map((one) => (one.rule === rule.rule ? { ...one, on: !rule.on } : one)),
                      )
                    }
                  />
                  <Confirm
                    action="Remove"
                    name={`Remove: ${inWords(rule)}`}
                    look="bare"
                    danger
                    effect="Views that it would drop count from then on. Undo: it comes back at its place."
                    onConfirm={() =>
                      change(`The rule is gone: ${inWords(rule)}.`, (rules) =>
                        rules.filter((one) => one.rule !== rule.rule),
                      )
                    }
                  />
                </p>
              )}
            </div>
            {rule.examples.length > 0 && (
              <Fold summary={<span class="small">Examples</span>}>
                <ul class="small">
                  {rule.examples.map((view) => (
                    <li key={`${view.at} ${view.network}`}>
                      {moment(view.at)}: {view.page} by {view.network}, {view.country ?? 'country not known'},{' '}
                      {view.device}, from {view.source}
                    </li>
                  ))}
                </ul>
              </Fold>
            )}
          </li>
        ))}
      </ol>
    </Section>
  )
}

/** The dialog of a new rule: it is tried first, and then made. */
export function NewRule({ sale, network }: { readonly sale: string; readonly network: Signal<string | null> }) {
  const isOpen = useSignal(false)
  const kind = useSignal<Kind>('networks')
  const form = useRef<HTMLFormElement>(null)
  const cache = useQueryClient()
  useEffect(() => {
    if (network.value === null) return
    kind.value = 'networks'
    isOpen.value = true
  }, [network.value])
  const close = () => {
    isOpen.value = false
    network.value = null
    attempt.reset()
  }
  const attempt = useMutation({
    mutationFn: async (rule: object) => {
      const rules = [...settingsOf(await readRules()), rule] as ViewRule[]
      return read(calls.try.$post({ json: { rules, sale, hours: TRIED_HOURS } }))
    },
  })
  const making = useMutation({
    mutationFn: (rule: object) => change('The rule counts within 60 s.', (rules) => [...rules, rule]),
    onSuccess: async (done: Done) => {
      say(done)
      close()
      await cache.invalidateQueries({ queryKey: KEY })
    },
  })
  const rule = () => ruleIn(new FormData(form.current ?? undefined))
  if (!may('operator')) return null
  return (
    <div class="sec">
      <button type="button" class="btn" onClick={() => (isOpen.value = true)}>
        New rule
      </button>
      <Dialog
        title="New rule"
        sub="It comes after the others, and counts for all sales."
        isOpen={isOpen.value}
        onClose={close}
      >
        <form
          ref={form}
          class="stack"
          onInput={() => attempt.reset()}
          onSubmit={(event) => {
            event.preventDefault()
            if (attempt.data) making.mutate(rule())
            else attempt.mutate(rule())
          }}
        >
          <label class="label">
            A view that …
            <span class="field">
              <select
                name="kind"
                value={kind.value}
                onChange={({ currentTarget }) => (kind.value = currentTarget.value as Kind)}
              >
                {Object.entries(KINDS).map(([one, text]) => (
                  <option key={one} value={one} selected={one === kind.value}>
                    {text}
                  </option>
                ))}
              </select>
            </span>
          </label>
          <Fields kind={kind.value} network={network.value} />
          <Labelled label="Note, for the records" input={{ name: 'note', maxLength: 200, autocomplete: 'off' }} />
          <Failure error={attempt.error ?? making.error} />
          {attempt.data && <Tried tried={attempt.data} />}
          <footer class="row ends">
            <button type="button" class="btn tall" onClick={close}>
              Go back
            </button>
            <button type="submit" class="btn tall primary" disabled={attempt.isPending || making.isPending}>
              {attempt.data ? 'Make the rule' : 'Try it on the last 24 hours'}
            </button>
          </footer>
        </form>
      </Dialog>
    </div>
  )
}

const whole = (name: string, value: number, max: number) => ({
  name,
  type: 'number',
  inputMode: 'numeric' as const,
  min: 1,
  max,
  required: true,
  defaultValue: String(value),
})

function Fields({ kind, network }: { readonly kind: Kind; readonly network: string | null }) {
  switch (kind) {
    case 'min_seconds':
      return <Labelled label="Seconds" unit="s" input={whole('seconds', 3, 600)} />
    case 'repeat':
      return <Labelled label="Within" unit="minutes" input={whole('minutes', 5, 60)} />
    case 'rate':
      return (
        <>
          <Labelled label="More than" unit="views" input={whole('views', 40, 100_000)} />
          <Labelled label="In" unit="minutes" input={whole('minutes', 1, 60)} />
          <label class="label">
            From
            <span class="field">
              <select name="per">
                <option value="pseudonym">one visitor</option>
                <option value="address">one address</option>
              </select>
            </span>
          </label>
        </>
      )
    case 'staff':
    case 'addresses':
      return (
        <Labelled
          label="Addresses or networks"
          note="Of /24 (IPv4) or /48 (IPv6) or larger"
          input={{ name: 'list', required: true, placeholder: '192.0.2.1, 198.51.100.0/24' }}
        />
      )
    case 'networks':
      return (
        <Labelled
          label="Network numbers"
          input={{ name: 'list', required: true, placeholder: 'AS64502', defaultValue: network ?? '' }}
        />
      )
    default:
      return null
  }
}

type TriedRules = Awaited<ReturnType<Awaited<ReturnType<typeof calls.try.$post>>['json']>>

/** What the rule would have done, before it does anything. */
function Tried({ tried: { counted, dropped, more_dropped } }: { readonly tried: TriedRules }) {
  const more = more_dropped.reduce((sum, { views }) => sum + views, 0)
  const all = counted + dropped
  const [first] = more_dropped
  return (
    <p role="status">
      <b>Tried on the last 24 hours:</b>{' '}
      {more === 0
        ? 'it would have dropped nothing more.'
        : `it would have dropped ${count(more)} more, ${figure((100 * more) / Math.max(1, all))} % of all views.`}
      {first && more > 0 && ` ${figure((100 * first.views) / more)} % of them say that they came from ${first.key}.`} In
      force within 60 s. Undo: switch it off.
    </p>
  )
}
