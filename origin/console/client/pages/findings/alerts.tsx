/** Whom findings reach: each channel with where it leads and from which severity, and a test of all of them. */
import { useQuery } from '@tanstack/preact-query'
import type { AlertChannel, AlertLevel } from '../../../../../shared/api/operators/alerts.ts'
import { admin, read } from '../../api.ts'
import { Confirm, Failure } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Effects } from '../../sheet/dialog.tsx'
import { Dot, type Mark } from '../../sheet/marks.tsx'
import { Section } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
import { type Done, say } from '../../toast.tsx'

const NAMES: Readonly<Record<AlertChannel, string>> = { mail: 'Mail', slack: 'Slack', pagerduty: 'PagerDuty' }
const SETTINGS: Readonly<Record<AlertChannel, string>> = {
  mail: 'ALERT_MAIL_TO, SMTP_URL and MAIL_FROM',
  slack: 'ALERT_SLACK_URL',
  pagerduty: 'ALERT_PAGERDUTY_KEY',
}
const LEVELS: readonly (readonly [AlertLevel, string])[] = [
  ['warn', 'all that needs somebody'],
  ['page', 'only what is urgent'],
  ['off', 'nothing'],
]

const readAlerts = () => read(admin.alerts.$get())
type Channel = Awaited<ReturnType<typeof readAlerts>>['channels'][number]

const stateOf = ({ target, error }: Channel): readonly [Mark, string] =>
  target === null ? ['unknown', 'Not configured'] : error === null ? ['good', 'Ready'] : ['watch', 'Fails']

async function setLevel({ channel, level: before }: Channel, level: AlertLevel): Promise<Done> {
  await admin.alerts.$put({ json: { [channel]: level } })
  const text = LEVELS.find(([value]) => value === level)?.[1]
  return {
    text: `${NAMES[channel]} hears of ${text}.`,
    undo: () => setLevel({ channel, level, target: null, error: null }, before),
  }
}

async function test(): Promise<Done> {
  const { sent } = await read(admin.alerts.test.$post())
  const failed = sent.filter(({ error }) => error !== null)
  if (failed.length > 0) throw new Error(failed.map(({ channel, error }) => `${NAMES[channel]}: ${error}`).join('; '))
  return { text: `The test was taken by ${sent.map(({ channel }) => NAMES[channel]).join(', ')}.` }
}

export function Alerts() {
  const { data, error, refetch } = useQuery({ queryKey: ['alerts'], queryFn: readAlerts })
  const channels = data?.channels ?? []
  const isAny = channels.some(({ target }) => target !== null)
  return (
    <Section
      title="Whom findings reach"
      aside={
        may('operator') &&
        isAny && (
          <Confirm
            action="Send a test"
            act="Send a test"
            icon="horn"
            effect={
              <Effects
                effects={{
                  goesOn: 'each channel below gets a test, which says that nothing is wrong',
                  undo: 'there is none',
                }}
              />
            }
            onConfirm={test}
          />
        )
      }
    >
      <Failure error={error} />
      {data && !isAny && (
        <p class="quiet">
          Nobody: no channel is configured. Settings of the origin name them, such as ALERT_MAIL_TO or ALERT_SLACK_URL.
        </p>
      )}
      {data && (
        <Table
          label="Channels of alerts"
          rows={channels}
          keyOf={({ channel }) => channel}
          columns={[
            { name: 'Mark', unnamed: true, phone: 'a', cell: (one) => <Dot level={stateOf(one)[0]} /> },
            { name: 'Channel', cell: ({ channel }) => NAMES[channel] },
            { name: 'State', cell: (one) => stateOf(one)[1] },
            {
              name: 'Leads to',
              phone: 'z',
              cell: ({ channel, target, error }) => (
                <span class="quiet">{target === null ? `set ${SETTINGS[channel]}` : (error ?? target)}</span>
              ),
            },
            {
              name: 'Hears of',
              number: true,
              phone: 'z',
              cell: (one) => (
                <Hears
                  one={one}
                  onChoose={async (level) => {
                    say(await setLevel(one, level))
                    await refetch()
                  }}
                />
              ),
            },
          ]}
        />
      )}
      <p class="small quiet">A finding that opens again within half an hour is not told again.</p>
    </Section>
  )
}

function Hears({ one, onChoose }: { readonly one: Channel; onChoose(level: AlertLevel): Promise<void> }) {
  if (!may('owner') || one.target === null) return <>{LEVELS.find(([level]) => level === one.level)?.[1]}</>
  return (
    <span class="field hears">
      <select
        aria-label={`${NAMES[one.channel]} hears of`}
        value={one.level}
        onChange={({ currentTarget }) => void onChoose(currentTarget.value as AlertLevel)}
      >
        {LEVELS.map(([level, text]) => (
          <option key={level} value={level}>
            {text}
          </option>
        ))}
      </select>
    </span>
  )
}
