import { useEffect, useState } from 'preact/hooks'
import { findingCounts, findingsFrom } from '../../../finding-lines.ts'
import { ask, askIn } from '../api.ts'
import { every } from '../browser.ts'
import { countOf, dateTime } from '../format.ts'
import { act, isLost } from '../live.ts'
import { useLive } from '../loaded.ts'
import { Confirm } from '../menu.tsx'
import { goTo, here, linkIn, open, refine, sandboxName } from '../place.ts'
import { filterText, NoMatch, QueryFilter } from '../query-filter.tsx'
import { isOpen, type SandboxRow, useSandboxes } from '../sandboxes.ts'
import { Panel } from '../splitter.tsx'
import { besidePanel, type Column, type Sorting, sorted, Table } from '../table.tsx'
import {
  Button,
  Detail,
  FactList,
  Missing,
  Note,
  Problem,
  Segments,
  Skeleton,
  Tag,
  ViewHead,
} from '../ui.tsx'

/** Real milliseconds between two loads: no event tells what happens in other sandboxes. */
const RELOAD = 5_000

const COLUMNS: readonly Column<SandboxRow>[] = [
  { name: 'name', label: 'Sandbox', beside: 'rest', cell: nameCell, sortBy: ({ name }) => name },
  { name: 'now', label: 'Clock', width: 176, cell: clockOf, sortBy: clockOf },
  { name: 'last', label: 'Last request', width: 176, cell: lastOf, sortBy: lastOf },
  { name: 'failed', label: 'Requests', width: 144, beside: 144, cell: failedCell, sortBy: failuresOf },
  { name: 'conduct', label: 'Conduct', width: 120, cell: (row) => <Conduct row={row} /> },
]

function nameCell({ name, state }: SandboxRow) {
  return (
    <>
      <code title={name}>{name}</code> {name === sandboxName.value && <Tag tone="accent">open here</Tag>}
      {state !== 'open' && (
        <Tag tone={state === 'broken' ? 'error' : 'neutral'}>{state.replace('_', ' ')}</Tag>
      )}
    </>
  )
}

function clockOf(row: SandboxRow): string {
  return isOpen(row) ? dateTime(row.now) : '–'
}

function lastOf(row: SandboxRow): string {
  return isOpen(row) && row.last_request !== null ? dateTime(row.last_request.at) : '–'
}

function failuresOf(row: SandboxRow): number {
  return isOpen(row) ? row.failed_requests : 0
}

function failedCell(row: SandboxRow) {
  const failed = failuresOf(row)
  if (!isOpen(row)) return <span class="hint">–</span>
  return failed === 0 ? row.requests : <Tag tone="error">{`${failed} of ${row.requests} failed`}</Tag>
}

/** The findings about the clients of a sandbox. They are judged only for rows in sight, and again after a request. */
function Conduct({ row }: { row: SandboxRow }) {
  const last = isOpen(row) ? row.last_request : null
  const load = async () => (last === null ? [] : (await askIn(row.name)('GET /conduct')).data)
  const { data } = useLive(load, [], last?.id)
  const found = findingsFrom(data ?? [], 'warning')
  if (found.length === 0) return <span class="hint">–</span>
  const errors = findingsFrom(found, 'error')
  const [tone, shown] = errors.length > 0 ? (['error', errors] as const) : (['warn', found] as const)
  return (
    <a href={linkIn(row.name, 'conduct')}>
      <Tag tone={tone}>{findingCounts(shown)}</Tag>
    </a>
  )
}

export default function SandboxesView() {
  const { data, error, reload } = useSandboxes()
  const [sorting, setSorting] = useState<Sorting | undefined>(undefined)
  const [leaving, setLeaving] = useState<readonly string[]>([])
  useEffect(() => {
    reload()
    return every(RELOAD, () => !document.hidden && !isLost.peek() && reload())
  }, [])
  if (data === undefined)
    return error === undefined ? <Skeleton /> : <Problem text={error} onRetry={reload} />
  const [opened] = here.value.path
  const isFailed = here.value.query.show === 'failed'
  const text = filterText().toLowerCase()
  const rows = data.filter((row) => row.name.includes(text) && (!isFailed || failuresOf(row) > 0))
  const removable = rows.map(({ name }) => name).filter((name) => name !== 'default')
  const found = data.find(({ name }) => name === opened)
  const failed = data.filter((row) => failuresOf(row) > 0).length
  const remove = () =>
    act(
      async () => {
        for (const name of leaving) await ask('DELETE /sandboxes/{name}', { params: { name } })
        if (leaving.includes(sandboxName.value)) goTo(linkIn('default', 'sandboxes'))
        else open([])
      },
      leaving.length === 1 ? `${leaving[0]} is deleted.` : `${leaving.length} sandboxes are deleted.`,
    )
  return (
    <>
      <ViewHead title="Sandboxes" summary={`${data.length} · ${failed} with failed requests`}>
        <QueryFilter label="Filter sandboxes" />
        <Segments
          label="Which sandboxes"
          options={{ all: 'All', failed: 'Failed' }}
          value={isFailed ? 'failed' : 'all'}
          onChoose={(show) => refine({ show: show === 'all' ? '' : show })}
        />
        <Button
          kind="danger"
          disabled={isLost.value || (removable.length === 0 && 'Only the default sandbox is shown.')}
          onClick={() => setLeaving(removable)}
        >
          {`Delete ${removable.length} shown`}
        </Button>
      </ViewHead>
      {error !== undefined && <Problem text={error} onRetry={reload} />}
      <div class="split">
        {rows.length === 0 ? (
          <NoMatch
            title="No sandbox matches the filter"
            hidden={countOf(data.length, 'sandbox', 'sandboxes')}
            filter={[text, isFailed ? 'failed' : ''].filter((each) => each !== '').join(', ')}
            onClear={() => refine({ filter: '', show: '' })}
          />
        ) : (
          <Table
            label="Sandboxes"
            rows={sorted(rows, COLUMNS, sorting)}
            columns={opened === undefined ? COLUMNS : besidePanel(COLUMNS)}
            idOf={({ name }) => name}
            selected={opened}
            onOpen={(name) => open([name])}
            sorting={sorting}
            onSort={setSorting}
            phone={(row) => <PhoneRow row={row} />}
          />
        )}
        {opened !== undefined && (
          <Panel name="sandbox" width={464}>
            {found === undefined ? (
              <Missing text={`There is no sandbox ${opened}.`} onClose={() => open([])} />
            ) : (
              <SandboxDetail row={found} onDelete={() => setLeaving([found.name])} />
            )}
          </Panel>
        )}
      </div>
      {leaving.length > 0 && (
        <Confirm
          title={leaving.length === 1 ? `Delete ${leaving[0]}?` : `Delete ${leaving.length} sandboxes?`}
          text="Records, clock, request log, snapshots and files are lost. Tests that still use such a sandbox fail."
          action="Delete"
          onDone={(yes) => {
            setLeaving([])
            if (yes) void remove()
          }}
        />
      )}
    </>
  )
}

function SandboxDetail({ row, onDelete }: { row: SandboxRow; onDelete: () => void }) {
  const { name } = row
  const off = name === 'default' ? 'The default sandbox always exists.' : isLost.value
  return (
    <Detail label={`Sandbox ${name}`} head={<h2 class="mono">{name}</h2>} onClose={() => open([])}>
      <p class="row-actions">
        <a class="button primary" href={linkIn(name, 'timeline')}>
          Open
        </a>
        {isOpen(row) && row.last_request !== null && (
          <a class="button" href={linkIn(name, 'requests', [row.last_request.id])}>
            Last request
          </a>
        )}
        <Button kind="danger" disabled={off} onClick={onDelete}>
          Delete
        </Button>
      </p>
      {isOpen(row) ? (
        <FactList facts={FACTS.map((fact) => [fact.replace('_', ' '), String(row[fact])])} />
      ) : (
        <Note tone={row.problem === null ? 'info' : 'error'}>
          {row.problem ?? 'It is on the disk. Its first request opens it.'}
        </Note>
      )}
    </Detail>
  )
}

const FACTS = ['now', 'rate', 'seed', 'requests', 'failed_requests', 'records', 'persist'] as const

function PhoneRow({ row }: { row: SandboxRow }) {
  return (
    <span class="two-lines">
      <span>{row.name}</span>
      <span class="hint">{isOpen(row) ? clockOf(row) : row.state.replace('_', ' ')}</span>
      {failedCell(row)}
    </span>
  )
}
