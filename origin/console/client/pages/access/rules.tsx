/** The rules of a sale. The first rule that matches a new visitor decides. */
import type { RuleConfig } from '../../../../../shared/api/access.ts'
import type { Rule } from '../../../../../shared/api/operators/answers.ts'
import { admin } from '../../api.ts'
import { Confirm, count } from '../../parts.tsx'
import { may } from '../../session.ts'
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
  return (
    <section class="sec" aria-label="Rules">
      <div class="card-head">
        <h2>Rules of this sale</h2>
        {may('operator') && (
          <Confirm
            action="Add a rule"
            effect={
              'It comes after the others, and counts for everyone who joins from now on; those in line keep their ' +
              'place. Undo: remove it.'
            }
            onConfirm={(form) => add(written(form))}
          >
            <RuleFields />
          </Confirm>
        )}
      </div>
      <p class="quiet">The first rule that a newcomer meets decides. Whoever meets none does what the sale asks for.</p>
      {rules.length === 0 && <p>There is no rule: everyone does what the sale asks for.</p>}
      <ol class="rules">
        {rules.map((rule) => (
          <li key={rule.rule}>
            <div>
              <b>{ACTIONS[rule.action]}</b>
              <p>{inWords(rule.when)}</p>
              {rule.note !== '' && <p class="quiet">{rule.note}</p>}
            </div>
            <p class="met">
              met <b>{count(rule.met)}</b> {rule.met === 1 ? 'time' : 'times'}
            </p>
            {may('operator') && (
              <p class="buttons">
                <Confirm
                  action="Change"
                  name={`Change the rule ${rule.note || inWords(rule.when)}`}
                  effect={
                    'It counts for everyone who joins from now on. It keeps its place among the rules. Undo: ' +
                    'change it back.'
                  }
                  onConfirm={(form) => change(rule.rule, written(form), configOf(rule))}
                >
                  <RuleFields rule={rule} />
                </Confirm>
                <Confirm
                  action="Remove"
                  name={`Remove the rule ${rule.note || inWords(rule.when)}`}
                  danger
                  effect={`"${inSentence(rule)}" no longer counts. Undo: add it again; it then comes last.`}
                  onConfirm={() => remove(rule.rule, rule)}
                />
              </p>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

const inSentence = ({ action, when }: RuleConfig) => `${ACTIONS[action]}: ${inWords(when)}`
const configOf = ({ when, action, note }: Rule): RuleConfig => ({ when, action, note })

function RuleFields({ rule }: { rule?: RuleConfig }) {
  const when = rule?.when ?? {}
  const field = (name: string, label: string, value: string | number | undefined, hint: string) => (
    <label>
      {label}
      <input name={name} defaultValue={String(value ?? '')} placeholder={hint} autocomplete="off" maxLength={200} />
    </label>
  )
  return (
    <>
      <label>
        What happens
        <select name="action">
          {Object.entries(ACTIONS).map(([action, text]) => (
            <option key={action} value={action} selected={action === (rule?.action ?? 'refuse')}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <fieldset class="group">
        <legend>To whom: all that is filled in must be met</legend>
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
