/** The operators with their roles. Owners add one, give a new key, which is shown once, and revoke a key. */

import { useSignal } from '@preact/signals'
import { useMutation, useQuery } from '@tanstack/preact-query'
import { ROLES, type Role } from '../../../../../shared/api/operators/roles.ts'
import { admin, read } from '../../api.ts'
import { count, instant, textIn } from '../../format.ts'
import { Confirm, Copy, Failure, Loading, useTitle } from '../../parts.tsx'
import { may, session } from '../../session.ts'
import { Labelled, Options } from '../../sheet/controls.tsx'
import { Effects } from '../../sheet/dialog.tsx'
import { Dot, type Mark } from '../../sheet/marks.tsx'
import { EmptyState, Head, Section } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
import type { Done } from '../../toast.tsx'

const readOperators = () => read(admin.operators.$get())
type Row = Awaited<ReturnType<typeof readOperators>>['operators'][number]

const RIGHTS: Readonly<Record<Role, string>> = {
  viewer: 'reads everything but secrets',
  operator: 'steers sales and orders as well',
  owner: 'names operators and webhook endpoints, and forgets visitors, as well',
}
const LEVELS: Readonly<Record<Role, Mark>> = { viewer: 'off', operator: 'info', owner: 'good' }

export function OperatorsPage() {
  useTitle('Operators · Console')
  if (!may('owner'))
    return (
      <>
        <Head title="Operators" />
        <EmptyState text="Only owners see and name operators." />
      </>
    )
  return <Operators />
}

function Operators() {
  const { data, error } = useQuery({ queryKey: ['operators'], queryFn: readOperators })
  const { data: made, mutateAsync: give } = useMutation({
    mutationFn: (wanted: { name: string; role: Role }) => read(admin.operators.$post({ json: wanted })),
  })
  const giveKey = async (name: string, role: Role): Promise<Done> => {
    await give({ name, role })
    return { text: `${name} is ${role}, with a new key.` }
  }
  const operators = data?.operators ?? []
  const active = operators.filter(({ revoked_at }) => revoked_at === null).length
  const add = (
    <Confirm
      action="Add an operator"
      icon="plus"
      look="primary"
      effect={
        <Effects
          effects={{
            goesOn: 'a key is made, which is shown once',
            stops: 'the key of an operator who has this name already',
            undo: 'revoke the key',
          }}
        />
      }
      onConfirm={(form) => giveKey(textIn(form, 'name'), textIn(form, 'role') as Role)}
    >
      <Labelled
        label="Name"
        note="letters, digits and .@_-; it stands in the audit"
        input={{
          name: 'name',
          required: true,
          maxLength: 64,
          pattern: '[A-Za-z0-9.@_\\-]+',
          autoComplete: 'off',
        }}
      />
      <RoleChoice selected="viewer" />
    </Confirm>
  )
  return (
    <>
      <Head title="Operators" sub={data && `${count(active)} with a key, and the admin token`}>
        {operators.length > 0 && add}
      </Head>
      <Failure error={error} />
      {made && (
        <section class="sec" role="status">
          <p>
            <b>{made.name}</b> is {made.role}. Their key, which is shown only now:
          </p>
          <p class="row">
            <code>{made.key}</code> <Copy name="the key" text={made.key} />
          </p>
        </section>
      )}
      {!data && !error && <Loading />}
      {data && operators.length === 0 && (
        <EmptyState text="There is no operator yet, only the admin token.">{add}</EmptyState>
      )}
      {operators.length > 0 && (
        <Section title="Keys">
          <Table
            label="Operators"
            rows={operators}
            keyOf={({ name }) => name}
            columns={[
              { name: 'Mark', unnamed: true, phone: 'a', cell: (one) => <Dot level={markOf(one)} /> },
              {
                name: 'Operator',
                cell: ({ name }) => (
                  <>
                    {name}
                    {isSelf(name) && <span class="quiet"> (you)</span>}
                  </>
                ),
              },
              { name: 'Role', cell: ({ role, revoked_at }) => (revoked_at === null ? role : 'revoked') },
              {
                name: 'May do',
                wide: true,
                cell: ({ role, revoked_at }) => (
                  <span class="quiet">{revoked_at === null ? RIGHTS[role] : 'nothing any more'}</span>
                ),
              },
              {
                name: 'Since',
                phone: 'z',
                cell: ({ created_at, revoked_at }) => (
                  <span class="quiet">
                    {revoked_at === null ? `made ${instant(created_at)}` : `revoked ${instant(revoked_at)}`}
                  </span>
                ),
              },
              {
                name: 'Act',
                unnamed: true,
                number: true,
                phone: 'z',
                cell: (one) => <Acts one={one} onKey={giveKey} />,
              },
            ]}
          />
        </Section>
      )}
    </>
  )
}

const isSelf = (name: string) => {
  const { value } = session
  return value !== null && value !== 'unknown' && value.name === name
}

const markOf = ({ role, revoked_at }: Row): Mark => (revoked_at === null ? LEVELS[role] : 'unknown')

async function revoke(name: string): Promise<Done> {
  await admin.operators[':name'].$delete({ param: { name } })
  return { text: `The key of ${name} opens nothing any more.` }
}

interface ActsProps {
  readonly one: Row
  onKey(name: string, role: Role): Promise<Done>
}

const Acts = ({ one: { name, role, revoked_at }, onKey }: ActsProps) => (
  <span class="row no-wrap tight-row acts-row">
    <Confirm
      action="New key"
      name={`New key for ${name}`}
      icon="key"
      look="bare"
      effect={
        <Effects
          effects={{
            goesOn: `${name} gets a new key, which is shown once`,
            stops: 'the old one, and its sessions',
            undo: 'there is none',
          }}
        />
      }
      onConfirm={(form) => onKey(name, textIn(form, 'role') as Role)}
    >
      <RoleChoice selected={role} />
    </Confirm>
    {revoked_at === null && (
      <Confirm
        action="Revoke"
        act={`Revoke the key of ${name}`}
        name={`Revoke the key of ${name}`}
        icon="ban"
        look="bare"
        danger
        effect={
          <Effects
            effects={{
              stops: `the key and the sessions of ${name} open nothing after a second; their scheduled actions wait`,
              undo: 'a new key',
            }}
          />
        }
        onConfirm={() => revoke(name)}
      />
    )}
  </span>
)

function RoleChoice({ selected }: { readonly selected: Role }) {
  const role = useSignal<Role>(selected)
  return (
    <Options
      legend="Role"
      name="role"
      value={role.value}
      options={ROLES.map((one) => [one, one, RIGHTS[one]] as const)}
      onChoose={(one) => (role.value = one)}
    />
  )
}
