import { useMemo, useRef } from 'preact/hooks'
import { ask, type Output } from '../api.ts'
import type { Column } from '../columns.ts'
import { Select } from '../fields.tsx'
import { countOf, numberText, shortId } from '../format.ts'
import { List, Panel } from '../list.tsx'
import { useLive } from '../loaded.tsx'
import { here, linkTo, open } from '../place.ts'
import { QueryFilter } from '../query-filter.tsx'
import { type AnyRecord, RecordEditor } from '../record-editor.tsx'
import { referenceOf } from '../references.ts'
import { logRows } from '../requests.ts'
import { SandboxActions } from '../sandbox-actions.tsx'
import { texts } from '../table.tsx'
import { Button, Empty, ViewHead } from '../ui.tsx'

/** The most useful fields of a record, in the order in which they are shown. */
const TELLING = ['name', 'title', 'email', 'status', 'type', 'kind', 'scope', 'role', 'url', 'model']

/** Telling, too, but less than the ids of other records. */
const INSTANTS = ['created_at', 'at']

/** Collections that every sandbox has, and that a user rarely looks for. */
const RARE = ['api_keys', 'organizations', 'memberships', 'oauth_flows', 'consumption_rows']

const GROUPS = ['Changed by requests', 'Other records', 'Rarely needed', 'Empty'] as const

/** Maximum characters of a value in the table. */
const MAX_SHOWN = 200

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–'
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

/** The id, and the five most useful fields: known ones first, then ids of other records, then others with simple values. */
function columnsOf(rows: readonly AnyRecord[], names: readonly string[]): readonly Column<AnyRecord>[] {
  const [first = { id: '' }] = rows
  const plain = Object.keys(first).filter(
    (name) => typeof first[name] !== 'object' && name !== 'id' && name !== 'object',
  )
  const references = plain.filter((name) => referenceOf(name, first[name], names) !== undefined)
  const known = [...TELLING, ...references, ...INSTANTS].filter((name) => plain.includes(name))
  const fields = [...new Set([...known, ...plain])].slice(0, 5)
  const value = (name: string) => (row: AnyRecord) => shown(row[name])
  const longest = (texts: readonly string[]) =>
    texts.reduce((most, { length }) => (length > most ? length : most), 0)
  const widths = fields.map((name) => 24 + 7 * longest([name, ...rows.slice(0, 100).map(value(name))]))
  const widest = widths.reduce((best, width, at) => (width > (widths[best] ?? 0) ? at : best), 0)
  return [
    texts('id', ({ id }) => id, { width: 144, cell: ({ id }) => <code title={id}>{shortId(id)}</code> }),
    ...fields.map(
      (name, index): Column<AnyRecord> => ({
        label: name,
        ...(index !== widest && { width: Math.min(widths[index] ?? 0, 216), isCut: true, spare: index + 1 }),
        cell: (row) => {
          const reference = referenceOf(name, row[name], names)
          const text = <span title={shown(row[name])}>{shown(row[name])}</span>
          if (reference === undefined) return text
          // The record that is opened has the same link for the keyboard.
          return (
            <a href={linkTo('data', [reference.collection, reference.id])} tabIndex={-1}>
              {text}
            </a>
          )
        },
        sortBy: value(name),
      }),
    ),
  ]
}

type Listed = Output<'GET /collections'>['data'][number]

/** The group of a collection: those that requests of the log have changed come first. */
function groupOf({ name, records }: Listed, changed: ReadonlySet<string>): (typeof GROUPS)[number] {
  if (records === 0) return 'Empty'
  if (changed.has(name)) return 'Changed by requests'
  return RARE.includes(name) ? 'Rarely needed' : 'Other records'
}

export default function Data() {
  const { path } = here.value
  const first = useRef<string | undefined>(undefined)
  const { data, notice } = useLive(() => ask('GET /collections'), ['transition', 'write', 'event'])
  const total = data?.data.reduce((sum, { records }) => sum + records, 0) ?? 0
  if (data === undefined) return notice
  const changed = new Set(
    logRows.value.entries.flatMap((row) => row.changed.map((ref) => ref.split('/')[0] ?? '')),
  )
  const groups = GROUPS.map((title) => ({
    title,
    members: data.data.filter((each) => groupOf(each, changed) === title),
  })).filter(({ members }) => members.length > 0)
  const names = groups.flatMap(({ members }) => members.map(({ name }) => name))
  // A request must not replace the collection that the user is reading.
  if (logRows.value.isLoaded) first.current ??= names[0]
  const chosen = path[0] ?? first.current ?? ''
  return (
    <>
      <ViewHead title="Data" summary={`${countOf(total, 'record')} · revision ${data.revision}`}>
        <SandboxActions />
      </ViewHead>
      {notice}
      <div class="split">
        <nav class="collections" aria-label="Collections">
          {groups.map(({ title, members }) => (
            <div key={title}>
              <h2 class="hint">{title}</h2>
              <ul>
                {members.map(({ name, records }) => (
                  <li key={name}>
                    <a
                      class="row dim"
                      href={linkTo('data', [name])}
                      aria-current={name === chosen ? 'true' : undefined}
                    >
                      <code>{name}</code>
                      <span>{numberText(records)}</span>
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        {chosen !== '' && <Collection key={chosen} name={chosen} id={path[1]} names={names} />}
      </div>
    </>
  )
}

function Collection({ name, id, names }: { name: string; id: string | undefined; names: readonly string[] }) {
  const { data, notice } = useLive(
    () => ask('GET /state/{collection}', { params: { collection: name } }),
    ['transition', 'write', 'event'],
  )
  const all = (data?.data ?? []) as unknown as readonly AnyRecord[]
  const columns = useMemo(() => columnsOf(all, names), [all[0]])
  if (data === undefined) return notice
  const editor = (record: AnyRecord | undefined) => (
    <RecordEditor
      key={`${name}/${id}`}
      collection={name}
      record={record}
      template={all[0]}
      collections={names}
    />
  )
  return (
    <>
      <List
        {...{ label: `Records of ${name}`, noun: 'record', width: 432, columns }}
        items={all}
        textOf={JSON.stringify}
        empty={
          <Empty
            icon="data"
            title={`No ${name.replaceAll('_', ' ')}`}
            text="Create a record here, or import fixtures."
          />
        }
        above={
          <div class="row wraps strip line-below">
            <Select
              class="narrow-only"
              aria-label="Collection"
              value={name}
              choices={names.map((each) => [each, each])}
              onChoose={(next) => open([next], {})}
            />
            <QueryFilter label={`Filter ${name}`} isWide />
            <Button text="New record" icon="plus" onClick={() => open([name, 'new'])} />
          </div>
        }
        idOf={(row) => row.id}
        selected={id === 'new' ? undefined : id}
        onOpen={(next) => open([name, next])}
      >
        {editor}
      </List>
      {id === 'new' && (
        <Panel name="record" width={432}>
          {editor(undefined)}
        </Panel>
      )}
    </>
  )
}
