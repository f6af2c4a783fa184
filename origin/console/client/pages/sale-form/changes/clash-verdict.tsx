/** The verdict on a form that somebody else saved first: field by field, mine or theirs. */
import { time } from '../../../format.ts'
import { Verdict } from '../../../sheet/page.tsx'
import { valueAt } from '../draft.ts'
import type { SaleForm } from '../use-sale-form.ts'
import { isSame } from './differences.ts'
import { inWords, labelOf } from './field-words.ts'

export function ClashVerdict({ form }: { readonly form: SaleForm }) {
  const { clash, body, undecided } = form
  if (!clash) return null
  const { by, atMs, conflicts, taken } = clash
  const many = conflicts.length + taken.length
  const fields = many === 1 ? 'one field' : `${many} fields`
  return (
    <Verdict
      level="watch"
      text={`Not saved: ${by} changed ${many === 0 ? 'the same as you' : fields} meanwhile.`}
      aside={
        <>
          at <strong>{time(new Date(atMs).toISOString())}</strong>
          {undecided.length === 0 && ' Save again to keep all of it.'}
        </>
      }
    >
      {conflicts.map((conflict) => {
        const { path, base, mine, theirs, choice } = conflict
        const [was, ours, other] = [base, mine, theirs].map((value) => inWords(path, value, body))
        const label = labelOf(path, body)
        return (
          <li key={path}>
            <p>
              <b>
                {label}: {by} wrote {other}, you wrote {ours}.
              </b>{' '}
              It was {was} when you began.
            </p>
            <fieldset class="row" aria-label={label}>
              <button
                type="button"
                class="btn"
                aria-pressed={choice === 'mine'}
                onClick={() => form.decide(conflict, 'mine')}
              >
                Keep mine, {ours}
              </button>
              <button
                type="button"
                class="btn"
                aria-pressed={choice === 'theirs'}
                onClick={() => form.decide(conflict, 'theirs')}
              >
                Take {by}’s, {other}
              </button>
            </fieldset>
          </li>
        )
      })}
      {taken.map((one) => {
        const { path, before, after } = one
        const [was, is] = [before, after].map((value) => inWords(path, value, body))
        const isBack = isSame(valueAt(body, path), before)
        // What was added or removed whole is undone where it stands.
        const mayPutBack = before !== undefined && after !== undefined
        return (
          <li key={path}>
            <p>
              <b>
                {labelOf(path, body)}: {by} wrote {is} instead of {was}.
              </b>{' '}
              {isBack ? `You put ${was} back.` : `You left it alone, so ${is} stays.`}
            </p>
            {mayPutBack && !isBack && (
              <button type="button" class="btn" onClick={() => form.putBack(one)}>
                Put {was} back
              </button>
            )}
          </li>
        )
      })}
    </Verdict>
  )
}
