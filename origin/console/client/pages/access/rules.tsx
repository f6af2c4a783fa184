/** The rules of a sale. The first rule that matches a new visitor decides. */
import type { RuleConfig } from '../../../../../shared/api/access.ts'
import type { Rule } from '../../../../../shared/api/operators/answers.ts'
import { admin } from '../../api.ts'
import { count } from '../../format.ts'
import { Confirm } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Effects } from '../../sheet/dialog.tsx'
import { State } from '../../sheet/marks.tsx'
import { EmptyState, Section } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
import type { Done } from '../../toast.tsx'
import { ACTIONS, inWords, ruleIn } from './rule-form.ts'

export function Rules({ rules, sale }: { rules: readonly Rule[]; sale: string }) {
  const { rules: calls } = admin.sales[':sale']
  const add = async (json: RuleConfig): Promise<Done> => {
    const { rule } = await (await calls.$post({ param: { sale }, json })).json()
    return { text: `The rule counts: ${inSentence(json)}.`, undo: () => remove(rule, json) }
  }
  const change = async (rule: string, json: RuleConfig, before: RuleConfig): Promise<Done> => {
    await calls[':rule'].$patch({ param: { sale, rule }, json })
    return { text: `The rule is now: ${inSentence(json)}.`, undo: () => change(rule, before, json) }
  }
  /** There is no undo, because the rule would return as the last one. */
  const remove = async (rule: string, json: RuleConfig): Promise<Done> => {
    await calls[':rule'].$delete({ param: { sale, rule } })
    return { text: `The rule no longer counts: ${inSentence(json)}.` }
  }
  // The API validates the rule.
  const written = (form: FormData) => ruleIn(form) as RuleConfig
  const nameOf = ({ note, when }: Rule) => note || inWords(when)
  return (
    <Section
      title="Rules of this sale"
      label="Rules"
      class="access"
      aside={
        may('operator') && (
          <Confirm
            action="Add a rule"
            icon="plus"
            effect={
              <Effects
                effects={{
                  goesOn: 'it comes after the others, and counts for everyone who joins from now on',
                  isKept: 'those in line keep their place',
                  undo: 'remove it',
                }}
              />
            }
            onConfirm={(form) => add(written(form))}
          >
            <RuleFields />
          </Confirm>
        )
      }
    >
      {rules.length === 0 ? (
        <EmptyState text="There is no rule: everyone does what the sale asks for." />
      ) : (
        <>
          <p class="small quiet">
            The first rule that a newcomer meets decides. Whoever meets none does what the sale asks for.
          </p>
          <Table
            label="Rules in their order"
            rows={rules}
            keyOf={({ rule }) => rule}
            columns={[
              { name: 'Place', unnamed: true, phone: 'a', cell: (rule) => <b>{rules.indexOf(rule) + 1}</b> },
              {
                name: 'Who',
                cell: (rule) => (
                  <>
                    <span>{inWords(rule.when)}</span>
                    {rule.note !== '' && (
                      <>
                        <br />
                        <small class="quiet">{rule.note}</small>
                      </>
                    )}
                  </>
                ),
              },
              {
                name: 'What happens',
                phone: 'z',
                cell: ({ action }) => <State level={action === 'refuse' ? 'bad' : 'info'}>{ACTIONS[action]}</State>,
              },
              {
                name: 'Met',
                number: true,
                cell: ({ met }) => (
                  <>
                    {count(met)} <span class="quiet">{met === 1 ? 'time' : 'times'}</span>
                  </>
                ),
              },
              ...(may('operator')
                ? [
                    {
                      name: 'Acts',
                      unnamed: true,
                      number: true,
                      phone: 'z' as const,
                      cell: (rule: Rule) => (
                        <span class="row no-wrap ends">
                          <Confirm
                            action="Change"
                            name={`Change the rule ${nameOf(rule)}`}
                            look="bare"
                            effect={
                              <Effects
                                effects={{
                                  goesOn: 'it counts for everyone who joins from now on',
                                  isKept: 'it keeps its place among the rules',
                                  undo: 'change it back',
                                }}
                              />
                            }
                            onConfirm={(form) => change(rule.rule, written(form), configOf(rule))}
                          >
                            <RuleFields rule={rule} />
                          </Confirm>
                          <Confirm
                            action="Remove"
                            name={`Remove the rule ${nameOf(rule)}`}
                            look="bare"
                            danger
                            effect={
                              <Effects
                                effects={{
                                  stops: `“${inSentence(rule)}” no longer counts`,
                                  undo: 'add it again; it then comes last',
                                }}
                              />
                            }
                            onConfirm={() => remove(rule.rule, rule)}
                          />
                        </span>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        </>
      )}
    </Section>
  )
}

const inSentence = ({ action, when }: RuleConfig) => `${ACTIONS[action]}: ${inWords(when)}`
const configOf = ({ when, action, note }: Rule): RuleConfig => ({ when, action, note })

function RuleFields({ rule }: { rule?: RuleConfig }) {
  const when = rule?.when ?? {}
  const field = (name: string, label: string, value: string | number | undefined, hint: string) => (
    <label class="label">
      {label}
      <span class="field">
        <input name={name} defaultValue={String(value ?? '')} placeholder={hint} autocomplete="off" maxLength={200} />
      </span>
    </label>
  )
  return (
    <>
      <label class="label">
        What happens
        <span class="field">
          <select name="action">
            {Object.entries(ACTIONS).map(([action, text]) => (
              <option key={action} value={action} selected={action === (rule?.action ?? 'refuse')}>
                {text}
              </option>
            ))}
          </select>
        </span>
      </label>
      <fieldset class="pairs">
        <legend class="small quiet">To whom: all that is filled in must be met</legend>
        {field('address', 'Network address or range', when.address, '192.0.2.0/24')}
        {field('asn', 'Network number (ASN)', when.asn, '64500')}
        {field('country', 'Country', when.country, 'DE')}
        {field('user_agent', 'Part of the browser’s name', when.user_agent, 'curl')}
        {field('line', 'Line', when.line, 'members')}
        {field('claim', 'Claim of the shop’s session', when.claim?.name, 'tier')}
        {field('value', 'Value of the claim', when.claim && JSON.stringify(when.claim.value), 'gold')}
      </fieldset>
      {field('note', 'Note, for the records', rule?.note, '')}
    </>
  )
}
