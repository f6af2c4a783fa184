/** What fails in a queue, by reason and kind; what was given up for chosen reasons is tried again together. */
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { admin, read } from '../../api.ts'
import { count, moment } from '../../format.ts'
import { Failure, useSubmit } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Icon, type IconName } from '../../sheet/icon.tsx'
import { Columns, Section } from '../../sheet/page.tsx'
import { jobsIn, wordsOf } from './queue-words.ts'

const REFRESH_MS = 3_000

const readFailing = (queue: string) => read(admin.queues[':queue'].failing.$get({ param: { queue } }))
type Group = Awaited<ReturnType<typeof readFailing>>['failing'][number]

const keyOf = ({ kind, reason }: Group) => `${kind}\n${reason}`

export function FailingJobs({ queue, isIdle }: { readonly queue: string; readonly isIdle: boolean }) {
  const { data, error } = useQuery({
    queryKey: ['failing jobs', queue],
    queryFn: () => readFailing(queue),
    refetchInterval: REFRESH_MS,
    enabled: !isIdle,
  })
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const groups = isIdle ? [] : (data?.failing ?? [])
  const wanted = groups.filter((group) => group.dead > 0 && chosen.value.has(keyOf(group)))
  const toggle = (group: Group) => {
    const next = new Set(chosen.value)
    if (!next.delete(keyOf(group))) next.add(keyOf(group))
    chosen.value = next
  }
  const { name, jobs } = wordsOf(queue)
  const title = `${name} that fail`
  if (groups.length === 0)
    return (
      <Section title={title}>
        <Failure error={error} />
        <p class="quiet">{isIdle ? 'None fails, and none was given up.' : 'Loading …'}</p>
      </Section>
    )
  const table = (
    <Section title={title} aside={<span class="small quiet">what fails is tried again by itself</span>}>
      <Failure error={error} />
      <table class="fold">
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">Choose</span>
            </th>
            <th scope="col">Reason</th>
            <th scope="col">Kind</th>
            <th scope="col" class="n">
              Given up
            </th>
            <th scope="col" class="n">
              Tried again
            </th>
            <th scope="col" class="n">
              Last
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={keyOf(group)} class={wanted.includes(group) ? 'chosen' : undefined}>
              <td class="a">
                {may('operator') && group.dead > 0 && (
                  <input
                    type="checkbox"
                    aria-label={`Choose ${group.reason}, ${group.kind}`}
                    checked={chosen.value.has(keyOf(group))}
                    onChange={() => toggle(group)}
                  />
                )}
              </td>
              <th scope="row">{group.reason}</th>
              <td class="z quiet kind">{group.kind}</td>
              <td class="n">
                <b>{count(group.dead)}</b>
                <small class="narrow quiet"> {jobs}</small>
              </td>
              <td class="n wide">{count(group.retrying)}</td>
              <td class="n z quiet">{group.last_at === null ? '–' : moment(group.last_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
  if (!may('operator') || groups.every(({ dead }) => dead === 0)) return table
  return (
    <Columns split="minmax(0, 7fr) minmax(0, 5fr)">
      {table}
      <Section title="Try again together">
        <Offer queue={queue} wanted={wanted} groups={groups} onDone={() => (chosen.value = new Set())} />
      </Section>
    </Columns>
  )
}

const dead = (groups: readonly Group[]) => groups.reduce((sum, group) => sum + group.dead, 0)

interface OfferProps {
  readonly queue: string
  readonly wanted: readonly Group[]
  readonly groups: readonly Group[]
  onDone(): void
}

/** It says what another try of the chosen jobs does, what it does not do twice, and what stays. */
function Offer({ queue, wanted, groups, onDone }: OfferProps) {
  const { onSubmit, error, isPending } = useSubmit(async () => {
    let retried = 0
    for (const { kind, reason } of wanted) {
      const json = { kind, reason }
      retried += (await read(admin.queues[':queue'].retry.$post({ param: { queue }, json }))).retried
    }
    return { text: `${jobsIn(queue, retried)} ${retried === 1 ? 'waits' : 'wait'} for a worker.` }
  }, onDone)
  const all = dead(wanted)
  if (all === 0) return <p class="quiet">Choose reasons, and what would happen is said here.</p>
  const stays = dead(groups) - all
  const will: readonly (readonly [IconName, string, string])[] = [
    ['play', 'Happens', `${jobsIn(queue, all)} ${all === 1 ? 'is' : 'are'} tried at once, after those that wait`],
    ['check', 'Not twice', wordsOf(queue).once],
    ['again', 'If it fails', 'each is tried again by itself, with all its tries'],
    ['x', 'Stays', stays === 0 ? 'nothing is left given up' : `${jobsIn(queue, stays)}, for other reasons`],
  ]
  return (
    <form class="quote stack tinted" onSubmit={onSubmit}>
      <h3>Try {jobsIn(queue, all)} again together?</h3>
      <ul class="will">
        {will.map(([icon, name, text]) => (
          <li key={name}>
            <Icon name={icon} />
            <span>
              <b>{name}:</b> {text}
            </span>
          </li>
        ))}
      </ul>
      <Failure error={error} />
      <p class="row">
        <button type="submit" class="btn primary" disabled={isPending}>
          <Icon name="again" />
          Try {count(all)} again
        </button>
        <button type="button" class="btn bare" onClick={onDone}>
          Go back
        </button>
        <span class="small quiet">There is no undo.</span>
      </p>
    </form>
  )
}
