import { useEffect, useState } from 'preact/hooks'
import { callControlOver } from '../../../control/client/ask.ts'
import { overHttp } from '../../../control/client/over-http.ts'
import { findingCounts, findingsFrom } from '../../../finding-lines.ts'
import { ask, emulatorAddress } from '../api.ts'
import { every } from '../browser.ts'
import type { Column } from '../columns.ts'
import { countOf, dateTime } from '../format.ts'
import { act, isLost } from '../live.ts'
import { useLive } from '../loaded.ts'
import { Confirm } from '../menu.tsx'
import { goTo, linkIn, sandboxName } from '../place.ts'
import { filterText, NoMatch, QueryFilter } from '../query-filter.tsx'
import { isOpenSandbox, type SandboxRow, useSandboxes } from '../sandboxes.ts'
import { Table } from '../table.tsx'
import { Button, Problem, Skeleton, Tag, ViewHead } from '../ui.tsx'

/** Real milliseconds between two loads: no event tells what happens in other sandboxes. */
const RELOAD = 5_000

const COLUMNS: readonly Column<SandboxRow>[] = [
  { label: 'Sandbox', cell: nameCell },
  { label: 'Clock', width: 148, spare: 2, cell: clockOf },
  { label: 'Last request', width: 148, cell: lastCell },
  { label: 'Requests', width: 128, cell: requestsCell },
  { label: 'Conduct', width: 104, spare: 1, cell: (row) => <Conduct row={row} /> },
]

function nameCell(row: SandboxRow) {
  const { name, state } = row
  return (
    <>
      <a class="mono" title={name} href={linkIn(name, 'timeline')}>
        {name}
      </a>{' '}
      {name === sandboxName.value && <Tag tone="accent">open here</Tag>}
      {!isOpenSandbox(row) && (
        <span title={row.problem ?? 'Its first request opens it.'}>
          <Tag tone={state === 'broken' ? 'error' : 'neutral'}>{state.replace('_', ' ')}</Tag>
        </span>
      )}
    </>
  )
}

function clockOf(row: SandboxRow): string {
  return isOpenSandbox(row) ? dateTime(row.now) : '–'
}

function lastCell(row: SandboxRow) {
  if (!isOpenSandbox(row) || row.last_request === null) return '–'
  return <a href={linkIn(row.name, 'requests', [row.last_request.id])}>{dateTime(row.last_request.at)}</a>
}

function requestsCell(row: SandboxRow) {
  if (!isOpenSandbox(row)) return '–'
  const { requests, failed_requests: failed } = row
  return failed === 0 ? requests : <Tag tone="error">{`${failed} of ${requests} failed`}</Tag>
}

/** The findings about the clients of a sandbox. They are judged only for rows in sight, and again after a request. */
function Conduct({ row }: { row: SandboxRow }) {
  const last = isOpenSandbox(row) ? row.last_request : null
  const askThere = callControlOver(overHttp(emulatorAddress()), row.name)
  const load = async () => (last === null ? [] : (await askThere('GET /conduct')).data)
  const { data } = useLive(load, [], last?.id)
  const found = findingsFrom(data ?? [], 'warning')
  if (found.length === 0) return '–'
  const errors = findingsFrom(found, 'error')
  const tone = errors.length > 0 ? 'error' : 'warn'
  return (
    <a href={linkIn(row.name, 'conduct')}>
      <Tag tone={tone}>{findingCounts(tone === 'error' ? errors : found)}</Tag>
    </a>
  )
}

export default function SandboxesView() {
  const { data, error, reload } = useSandboxes()
  const [leaving, setLeaving] = useState<readonly string[]>([])
  useEffect(() => {
    reload()
    return every(RELOAD, () => !document.hidden && !isLost.peek() && reload())
  }, [])
  if (data === undefined)
    return error === undefined ? <Skeleton /> : <Problem text={error} onRetry={reload} />
  const isFailed = (row: SandboxRow) => isOpenSandbox(row) && row.failed_requests > 0
  const text = filterText().toLowerCase()
  const rows = data.filter((row) => `${row.name} ${isFailed(row) ? 'failed' : ''}`.includes(text))
  const removable = rows.map(({ name }) => name).filter((name) => name !== 'default')
  const many = leaving.length === 1 ? leaving[0] : `${leaving.length} sandboxes`
  const remove = async () => {
    for (const name of leaving) await ask('DELETE /sandboxes/{name}', { params: { name } })
    if (leaving.includes(sandboxName.value)) goTo(linkIn('default', 'sandboxes'))
  }
  const deletion: Column<SandboxRow> = {
    label: '',
    width: 52,
    cell: ({ name }) =>
      name !== 'default' && (
        <Button
          kind="ghost"
          icon="trash"
          label={`Delete ${name}`}
          disabled={isLost.value}
          onClick={() => setLeaving([name])}
        />
      ),
  }
  return (
    <>
      <ViewHead
        title="Sandboxes"
        summary={`${data.length} · ${data.filter(isFailed).length} with failed requests`}
      >
        <QueryFilter label="Filter by name or failed" />
        <Button
          kind="danger"
          disabled={isLost.value || (removable.length === 0 && 'The default sandbox cannot be deleted.')}
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
          />
        ) : (
          <Table
            label="Sandboxes"
            rows={rows}
            columns={[...COLUMNS, deletion]}
            idOf={({ name }) => name}
            onOpen={() => {}}
            phone={(row) => (
              <span class="two-lines">
                <span>{nameCell(row)}</span>
                <span class="hint">{clockOf(row)}</span>
                <span>{requestsCell(row)}</span>
              </span>
            )}
            isQuiet
          />
        )}
      </div>
      {leaving.length > 0 && (
        <Confirm
          title={`Delete ${many}?`}
          text="Records, clock, request log, snapshots and files are lost. Tests that still use such a sandbox fail."
          action="Delete"
          onDone={(yes) => {
            setLeaving([])
            if (yes) void act(remove, `Deleted: ${many}.`)
          }}
        />
      )}
    </>
  )
}
