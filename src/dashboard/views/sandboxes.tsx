import { useEffect } from 'preact/hooks'
import { callControlOver } from '../../control-client/ask.ts'
import { overHttp } from '../../control-client/over-http.ts'
import { findingCounts, findingsFrom } from '../../core/conduct/finding-lines.ts'
import { ask, emulatorAddress } from '../api.ts'
import { every } from '../browser.ts'
import type { Column } from '../columns.ts'
import { confirm } from '../dialogs.tsx'
import { dateTime } from '../format.ts'
import { List } from '../list.tsx'
import { isLost } from '../live.ts'
import { useLive } from '../loaded.tsx'
import { goTo, linkIn, sandboxName } from '../place.ts'
import { filtered, QueryFilter } from '../query-filter.tsx'
import { isOpenSandbox, type SandboxRow, useSandboxes } from '../sandbox-switcher.tsx'
import { Button, Tag, ViewHead } from '../ui.tsx'

/** Real milliseconds between two loads: no event tells what happens in other sandboxes. */
const RELOAD = 5_000

const COLUMNS: readonly Column<SandboxRow>[] = [
  { label: 'Sandbox', cell: nameCell },
  { label: 'Clock', width: 148, spare: 2, cell: clockOf },
  { label: 'Last request', width: 148, cell: lastCell },
  { label: 'Requests', width: 128, cell: requestsCell },
  { label: 'Conduct', width: 104, spare: 1, cell: (row) => <Conduct row={row} /> },
  {
    label: '',
    width: 52,
    cell: ({ name }) =>
      name !== 'default' && (
        <Button
          {...{ kind: 'ghost', icon: 'trash', label: `Delete ${name}` }}
          disabled={isLost.value}
          onClick={() => remove([name])}
        />
      ),
  },
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

function remove(names: readonly string[]): void {
  const many = names.length === 1 ? names[0] : `${names.length} sandboxes`
  const run = async () => {
    for (const name of names) await ask('DELETE /sandboxes/{name}', { params: { name } })
    if (names.includes(sandboxName.value)) goTo(linkIn('default', 'sandboxes'))
  }
  confirm({
    title: `Delete ${many}?`,
    text: 'Records, clock, request log, snapshots and files are lost. Tests that still use such a sandbox fail.',
    action: 'Delete',
    run,
    done: `Deleted: ${many}.`,
  })
}

const isFailed = (row: SandboxRow) => isOpenSandbox(row) && row.failed_requests > 0
const textOf = (row: SandboxRow) => `${row.name} ${isFailed(row) ? 'failed' : ''}`

export default function SandboxesView() {
  const { data, notice, reload } = useSandboxes()
  useEffect(() => {
    reload()
    return every(RELOAD, () => !document.hidden && !isLost.peek() && reload())
  }, [])
  if (data === undefined) return notice
  const removable = filtered(data, textOf)
    .map(({ name }) => name)
    .filter((name) => name !== 'default')
  return (
    <>
      <ViewHead
        title="Sandboxes"
        summary={`${data.length} · ${data.filter(isFailed).length} with failed requests`}
      >
        <QueryFilter label="Filter by name or failed" />
        <Button
          text={`Delete ${removable.length} shown`}
          kind="danger"
          disabled={isLost.value || (removable.length === 0 && 'The default sandbox cannot be deleted.')}
          onClick={() => remove(removable)}
        />
      </ViewHead>
      {notice}
      <div class="split">
        <List
          {...{ label: 'Sandboxes', noun: 'sandbox', nouns: 'sandboxes', empty: null }}
          items={data}
          textOf={textOf}
          columns={COLUMNS}
          idOf={({ name }) => name}
          phone={(row) => [nameCell(row), clockOf(row), <span>{requestsCell(row)}</span>]}
        />
      </div>
    </>
  )
}
