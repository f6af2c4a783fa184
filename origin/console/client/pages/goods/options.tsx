/** What there is to choose of a product, such as sizes: values as chips, which are ordered by dragging or by keys. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Icon } from '../../sheet/icon.tsx'
import type { Body } from '../sale-form/draft.ts'
import { Framed, isWithin, useForm } from '../sale-form/fields/form.tsx'
import { OtherLanguages } from '../sale-form/fields/rows.tsx'
import { type Option, optionsOf, type Variant, valuesIn, variantsOf, withOptions } from './variants.ts'

const MOST_OPTIONS = 3

export function Options({ i, product }: { readonly i: number; readonly product: Body }) {
  const { body, wrong, set } = useForm()
  const path = `products.${i}`
  const options = optionsOf(product)
  // Variants that a change of the options removes are remembered, so that they can return unchanged.
  const remembered = useRef<readonly Variant[]>([])
  const write = (before: readonly Option[], after: readonly Option[]) => {
    const taken = (body.products as readonly Body[]).flatMap((one) => [
      String(one.product_id),
      ...variantsOf(one).map(({ variant_id }) => variant_id),
    ])
    remembered.current = [...variantsOf(product), ...remembered.current].slice(0, 200)
    set(path, withOptions(product, { before, after, remembered: remembered.current, taken }))
  }
  const add = () => write(options, [...options, { name: options.length === 0 ? 'Size' : '', values: [] }])
  return (
    <>
      {options.map((option, at) => (
        <OptionRow
          key={at}
          path={`${path}.options.${at}`}
          option={option}
          onChange={(to) => write(options, options.with(at, { ...option, ...to }))}
          onRemove={() => {
            const left = options.filter((one) => one !== option)
            write(left, left)
          }}
        />
      ))}
      {[...wrong].flatMap(([field, text]) =>
        isWithin(field, `${path}.options`)
          ? [
              <p key={field} class="note is-bad">
                {text}
              </p>,
            ]
          : [],
      )}
      {options.length < MOST_OPTIONS && (
        <p>
          <button type="button" class="chip" onClick={add}>
            <Icon name="plus" />
            {options.length === 0 ? 'Add an option, such as sizes' : 'Another option'}
          </button>
        </p>
      )}
    </>
  )
}

interface OptionRowProps {
  readonly path: string
  readonly option: Option
  onChange(to: Partial<Option>): void
  onRemove(): void
}

function OptionRow({ path, option: { name, values }, onChange, onRemove }: OptionRowProps) {
  const { wrong, touch } = useForm()
  const typed = useSignal('')
  const dragged = useRef<number | null>(null)
  const move = (from: number, to: number) => {
    if (to < 0 || to >= values.length || from === to) return
    const next = values.toSpliced(from, 1)
    onChange({ values: next.toSpliced(to, 0, values[from] ?? '') })
  }
  const add = () => {
    const more = valuesIn(typed.value).filter((value) => !values.includes(value))
    typed.value = ''
    if (more.length > 0) onChange({ values: [...values, ...more] })
  }
  const isWrong = wrong.has(`${path}.values`)
  return (
    <fieldset class="stack close" aria-label={name === '' ? 'Option' : `Option ${name}`}>
      <div class="row values">
        <Framed level={wrong.has(`${path}.name`) ? 'is-bad' : ''}>
          <input
            name={`${path}.name`}
            aria-label="What there is to choose"
            aria-invalid={wrong.has(`${path}.name`)}
            size={8}
            value={name}
            autocomplete="off"
            onBlur={() => touch(`${path}.name`)}
            onInput={({ currentTarget }) => onChange({ name: currentTarget.value })}
          />
        </Framed>
        {values.map((value, at) => (
          <button
            key={value}
            type="button"
            class="chip val"
            draggable
            aria-label={`${name} ${value}: arrow keys order it, Delete takes it away`}
            onDragStart={() => (dragged.current = at)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault()
              if (dragged.current !== null) move(dragged.current, at)
            }}
            onKeyDown={(event) => {
              const isBack = event.key === 'ArrowLeft' || event.key === 'ArrowUp'
              if (isBack || event.key === 'ArrowRight' || event.key === 'ArrowDown') {
                event.preventDefault()
                move(at, at + (isBack ? -1 : 1))
              } else if (event.key === 'Delete' || event.key === 'Backspace')
                onChange({ values: values.filter((one) => one !== value) })
            }}
          >
            {value}
          </button>
        ))}
        <Framed level={isWrong ? 'is-bad' : ''}>
          <input
            name={`${path}.values`}
            aria-label={`More of ${name || 'the option'}`}
            aria-invalid={isWrong}
            placeholder={values.length === 0 ? '41, 42, 43' : 'more'}
            size={9}
            value={typed.value}
            autocomplete="off"
            onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
            onBlur={add}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              add()
            }}
          />
        </Framed>
        <button type="button" class="btn bare" aria-label={`Remove the option ${name}`} onClick={onRemove}>
          <Icon name="bin" />
        </button>
      </div>
      <OtherLanguages
        path={`${path}.names`}
        label={`name of ${name}`}
        summary={`${name || 'Option'} in other languages`}
      />
    </fieldset>
  )
}
