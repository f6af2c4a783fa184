/**
 * The sections of a hall: create and change them, and import their seats. An import first shows what it would change.
 */
import './hall.css'
import { useSignal } from '@preact/signals'
import { useMutation } from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'
import { Link, useLocation, useSearch } from 'wouter-preact'
import type { ChartDocument, SectionType } from '../../../../../shared/api/hall.ts'
import type { SectionConfig } from '../../../../../shared/api/operators/hall-admin.ts'
import { decimal, minorOf, money } from '../../../../../shared/format.ts'
import { count, textIn } from '../../format.ts'
import { Confirm, Failure, Loading } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Effects } from '../../sheet/dialog.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { EmptyState, Section } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
import type { Done } from '../../toast.tsx'
import { idFrom } from '../sale-form/draft.ts'
import { deleteSection, type HallState, type ImportPreview, previewSeats, putSeats, putSection } from './hall-api.ts'
import { HallHead } from './hall-head.tsx'
import { useHall } from './use-hall.ts'

type HallSection = HallState['sections'][number]

const TYPES = { reserved: 'Seats', general_admission: 'Standing places' } as const

export function ImportPage({ sale }: { sale: string }) {
  const { hall, chart, error } = useHall(sale)
  const id = new URLSearchParams(useSearch()).get('section')
  const chosen = hall?.sections.find(({ section_id, type }) => section_id === id && type === 'reserved')
  if (!may('operator'))
    return (
      <>
        <HallHead sale={sale} end="/import" />
        <EmptyState text="Only operators and owners change a hall." />
      </>
    )
  return (
    <>
      <HallHead sale={sale} end="/import" />
      <Failure error={error} />
      {!hall && !error && <Loading />}
      {hall && <Sections sale={sale} sections={hall.sections} chart={chart} />}
      {chosen && <Import key={chosen.section_id} sale={sale} section={chosen} />}
    </>
  )
}

interface SectionsProps {
  readonly sale: string
  readonly sections: readonly HallSection[]
  readonly chart: ChartDocument | undefined
}

function Sections({ sale, sections, chart }: SectionsProps) {
  const outlineOf = (id: string) => chart?.sections.find(({ section_id }) => section_id === id)?.outline
  return (
    <Section
      title="Sections"
      aside={
        <Confirm
          action="New section"
          icon="plus"
          effect="Seats are imported afterwards, from a list; standing places are for sale at once."
          onConfirm={(form) => save(sale, sections, form)}
        >
          <SectionFields sections={sections} />
        </Confirm>
      }
    >
      {sections.length === 0 ? (
        <EmptyState text="There is no section yet." />
      ) : (
        <Table
          label="Sections of the hall"
          rows={sections}
          keyOf={({ section_id }) => section_id}
          columns={[
            {
              name: 'Mark',
              unnamed: true,
              phone: 'a',
              cell: ({ type }) => <Icon name={type === 'reserved' ? 'hall' : 'people'} />,
            },
            {
              name: 'Section',
              cell: ({ section_id, name }) => (
                <>
                  {name}
                  <br />
                  <small class="quiet mono">{section_id}</small>
                </>
              ),
            },
            { name: 'Kind', wide: true, cell: ({ type }) => TYPES[type] },
            { name: 'Places', number: true, cell: ({ total }) => count(total) },
            {
              name: 'Price',
              number: true,
              wide: true,
              cell: ({ price_minor, currency }) => money('en', price_minor, currency),
            },
            {
              name: 'Acts',
              unnamed: true,
              number: true,
              phone: 'z',
              cell: (section) => (
                <span class="row ends">
                  {section.type === 'reserved' && (
                    <Link class="btn bare" href={`/console/sales/${sale}/hall/import?section=${section.section_id}`}>
                      Import<span class="unseen"> seats of {section.name}</span>
                    </Link>
                  )}
                  <Confirm
                    action="Change"
                    name={`Change ${section.name}`}
                    look="bare"
                    effect={
                      <Effects
                        effects={{
                          isKept: 'seats keep the prices that were imported with them, and carts theirs',
                          undo: 'change it back',
                        }}
                      />
                    }
                    // A section is written with its outline, which only the chart contains.
                    disabled={!chart}
                    onConfirm={(form) => save(sale, sections, form, section, outlineOf(section.section_id))}
                  >
                    <SectionFields sections={sections} section={section} />
                  </Confirm>
                  {section.held + section.sold === 0 && (
                    <Confirm
                      action="Delete"
                      name={`Delete ${section.name}`}
                      look="bare"
                      danger
                      effect={
                        <Effects
                          effects={{
                            stops: `${section.name} and its ${count(section.total)} places are taken away`,
                            undo: 'There is no undo.',
                          }}
                        />
                      }
                      onConfirm={async () => {
                        await deleteSection(sale, section.section_id)
                        return { text: `${section.name} is deleted.` }
                      }}
                    />
                  )}
                </span>
              ),
            },
          ]}
        />
      )}
    </Section>
  )
}

/** `section` is an existing section, whose id and kind cannot change. */
function SectionFields({ sections, section }: { sections: readonly HallSection[]; section?: HallSection }) {
  const type = useSignal<SectionType>(section?.type ?? 'reserved')
  const currency = section?.currency ?? sections.at(-1)?.currency ?? 'EUR'
  return (
    <>
      <label class="label">
        Name, as visitors read it
        <span class="field">
          <input name="name" required maxLength={200} autocomplete="off" defaultValue={section?.name ?? ''} />
        </span>
      </label>
      {!section && (
        <>
          <label class="label">
            Id
            <span class="field">
              <input name="id" maxLength={64} autocomplete="off" spellcheck={false} />
            </span>
            <small class="quiet">In orders and exports. Empty: after the name.</small>
          </label>
          <label class="label">
            Kind
            <span class="field">
              <select
                name="type"
                value={type.value}
                onChange={(event) => (type.value = event.currentTarget.value as SectionType)}
              >
                {Object.entries(TYPES).map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            </span>
          </label>
        </>
      )}
      <label class="label">
        Price{type.value === 'reserved' && ', shown until there are seats with prices of their own'}
        <span class="field">
          <input
            name="price"
            inputMode="decimal"
            required
            autocomplete="off"
            defaultValue={section ? decimal(section.price_minor, currency) : ''}
          />
        </span>
      </label>
      <label class="label">
        Currency
        <span class="field">
          <input name="currency" required pattern="[A-Z]{3}" maxLength={3} defaultValue={currency} />
        </span>
      </label>
      {type.value === 'general_admission' && (
        <label class="label">
          Places
          <span class="field">
            <input type="number" name="total" min="0" required defaultValue={section ? String(section.total) : ''} />
          </span>
        </label>
      )}
    </>
  )
}

async function save(
  sale: string,
  sections: readonly HallSection[],
  form: FormData,
  section?: HallSection,
  outline?: ChartDocument['sections'][number]['outline'],
): Promise<Done> {
  const [name, currency] = [textIn(form, 'name'), textIn(form, 'currency')]
  const id = section?.section_id ?? (textIn(form, 'id') || idFrom(name))
  const type = section?.type ?? (textIn(form, 'type') as SectionType)
  const price_minor = minorOf(textIn(form, 'price'), currency)
  if (price_minor === null) throw new Error('Write the price as a number, such as 39.00.')
  if (!section && sections.some(({ section_id }) => section_id === id))
    throw new Error(`There is a section ${id} already: give this one another id.`)
  const total = type === 'general_admission' ? { total: Number(form.get('total')) } : {}
  const config: SectionConfig = {
    name,
    type,
    price_minor,
    currency,
    ...total,
    ...(outline && { outline: outline.map(([x, y]): [number, number] => [x, y]) }),
  }
  await putSection(sale, id, config)
  return { text: section ? `${name} is changed.` : `${name} is a section of the hall now.` }
}

// -- Import ---------------------------------------------------------------------------------------------------------

const EXAMPLE = `seat_id,row,number,place,x,y,category,kind,price_minor
A-1,A,1,1,100,40,stalls,standard,9400
A-2,A,2,2,122,40,stalls,accessible,9400`
/** The page shows at most this many errors; an import may have thousands. */
const SHOWN_ERRORS = 50

interface Preview extends ImportPreview {
  readonly csv: Blob
}

function Import({ sale, section }: { sale: string; section: HallSection }) {
  const [, navigate] = useLocation()
  const file = useRef<HTMLInputElement>(null)
  const text = useRef<HTMLTextAreaElement>(null)
  const preview = useSignal<Preview | null>(null)
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: async () => {
      preview.value = null
      const csv = file.current?.files?.[0] ?? new Blob([text.current?.value.trim() ?? ''])
      if (csv.size === 0) throw new Error('Choose a file, or paste the list.')
      preview.value = { ...(await previewSeats(sale, section.section_id, csv)), csv }
    },
  })
  const put = async ({ csv, reprinted_count }: Preview): Promise<Done> => {
    const { added, changed, removed } = await putSeats(sale, section.section_id, csv, reprinted_count > 0)
    navigate(`/console/sales/${sale}/hall`)
    return { text: `${section.name}: ${count(added)} added, ${count(changed)} changed, ${count(removed)} removed.` }
  }
  // A changed list must be previewed again before it is imported.
  const forget = () => {
    preview.value = null
    reset()
  }
  return (
    <Section title={`Import the seats of ${section.name}`} label="Import">
      <p class="small quiet">
        The list takes the place of all seats of the section: all of it or, where a line is wrong, none. A seat that is
        held or sold cannot be left out. <code>place</code> counts along the row: neighbours differ by one, an aisle
        leaves a number out. <code>kind</code> is standard, accessible, companion or restricted_view.
      </p>
      <form
        class="hall-import"
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <label class="label">
          File (CSV)
          <span class="field">
            <input ref={file} type="file" accept=".csv,.txt" onChange={forget} />
          </span>
        </label>
        <label class="label">
          Or paste the list
          <span class="field">
            <textarea ref={text} rows={8} spellcheck={false} placeholder={EXAMPLE} onInput={forget} />
          </span>
        </label>
        <p class="row">
          <button type="submit" class="btn" disabled={isPending}>
            {isPending ? 'Reading …' : 'Preview'}
          </button>
        </p>
      </form>
      <Failure error={error} />
      {preview.value && <Changes section={section} preview={preview.value} onImport={put} />}
    </Section>
  )
}

/** Shows why the list cannot be imported. */
function Obstacles({ errors, error_count, seats, seat_count }: ImportPreview) {
  return (
    <div class="failure" role="alert">
      {error_count > 0 && (
        <p>
          {count(error_count)} {error_count === 1 ? 'thing is' : 'things are'} wrong in the list:
        </p>
      )}
      <ul>
        {errors.slice(0, SHOWN_ERRORS).map(({ field, detail }, i) => (
          <li key={i}>
            <code>{field}</code> {detail}
          </li>
        ))}
        {error_count > SHOWN_ERRORS && <li>and {count(error_count - SHOWN_ERRORS)} more</li>}
      </ul>
      {seat_count > 0 && (
        <p>
          {seat_count === 1 ? 'A seat that is' : `${count(seat_count)} seats that are`} sold, held or blocked would
          vanish: {seats.slice(0, SHOWN_ERRORS).join(', ')}
          {seat_count > SHOWN_ERRORS && ' …'}. Put {seat_count === 1 ? 'it' : 'them'} into the list.
        </p>
      )}
    </div>
  )
}

interface ChangesProps {
  readonly section: HallSection
  readonly preview: Preview
  readonly onImport: (preview: Preview) => Promise<Done>
}

function Changes({ section, preview, onImport }: ChangesProps) {
  const { added, changed, removed, unchanged, error_count, seat_count, reprinted, reprinted_count } = preview
  const isSame = added + changed + removed === 0
  const shown = reprinted.slice(0, SHOWN_ERRORS).join(', ')
  const reprints =
    reprinted_count === 0
      ? ''
      : ` ${count(reprinted_count)} seats of orders get another row, number or category than was sold: ${shown}${
          reprinted_count > SHOWN_ERRORS ? ' …' : ''
        }. Their tickets change: tell their buyers.`
  return (
    <>
      <div role="status">
        <dl class="import-changes">
          {Object.entries({ added, changed, removed, unchanged }).map(([name, seats]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{count(seats)}</dd>
            </div>
          ))}
        </dl>
      </div>
      <div class="buttons start">
        {error_count + seat_count > 0 ? (
          <Obstacles {...preview} />
        ) : isSame ? (
          <p>The section is so already: there is nothing to import.</p>
        ) : (
          <Confirm
            action="Import"
            effect={
              `${section.name}: ${count(added)} seats are added, ${count(changed)} change, ${count(removed)} are ` +
              `removed. Visitors see it within seconds.${reprints}`
            }
            onConfirm={() => onImport(preview)}
          />
        )}
      </div>
    </>
  )
}
