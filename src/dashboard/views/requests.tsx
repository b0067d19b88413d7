import { useMemo, useRef, useState } from 'preact/hooks'
import { ask, baseUrl, wordsOf } from '../api.ts'
import type { Column } from '../columns.ts'
import { countOf, durationText, shortPath, timeOfDay } from '../format.ts'
import { Panel } from '../list.tsx'
import { act, missingSandbox } from '../live.ts'
import { Menu } from '../menu.tsx'
import { here, linkTo, open, refine } from '../place.ts'
import { filterText, NoMatch, QueryFilter } from '../query-filter.tsx'
import { RequestDetail } from '../request-detail.tsx'
import { hasFailed, type LogRow, logRows, saveRecording } from '../requests.ts'
import { snippet } from '../snippets.ts'
import { CorsTag, FaultTag, Status } from '../status.tsx'
import { Table, texts } from '../table.tsx'
import { Button, Empty, Note, Problem, Segments, Skeleton, Tag, ViewHead } from '../ui.tsx'

const KINDS = {
  all: () => true,
  errors: hasFailed,
  faulted: ({ faults, tomorrow }: LogRow) => faults.length > 0 || tomorrow !== undefined,
}

const FAULT = 'Fault'
const TRACE = 'Trace'

/** The number of a request in its id, which counts the requests of a sandbox in order of arrival. */
const numberOf = ({ id }: LogRow) => Number(/\d+$/.exec(id)?.[0] ?? 0)

const COLUMNS: readonly Column<LogRow>[] = [
  {
    label: 'No.',
    width: 60,
    spare: 2,
    cell: (row) => <span title={row.id}>{numberOf(row)}</span>,
    sortBy: numberOf,
  },
  texts('Time', ({ at }) => at, {
    width: 84,
    isCut: false,
    cell: ({ at }) => (
      <time dateTime={at} title={at}>
        {timeOfDay(at)}
      </time>
    ),
  }),
  texts('Method', ({ method }) => method, {
    width: 80,
    isCut: false,
    cell: ({ method }) => <strong class="mono dim">{method}</strong>,
  }),
  texts('Path', ({ path }) => path, {
    least: 216,
    cell: ({ path }) => <code title={path}>{shortPath(path)}</code>,
  }),
  { label: 'Status', width: 84, cell: (row) => <Status row={row} />, sortBy: ({ status }) => status },
  { label: FAULT, width: 232, isCut: true, spare: 1, cell: (row) => <Interference row={row} /> },
  texts('Operation', ({ operation }) => operation, { width: 200, spare: 3 }),
  texts('Caller', ({ caller }) => caller?.key_id, { width: 112, spare: 4 }),
  texts('Idempotency key', (row) => row.idempotency_key, { width: 112, spare: 5 }),
  texts(TRACE, ({ trace }) => trace, { width: 112, spare: 8 }),
  {
    label: 'Quota left',
    width: 96,
    spare: 6,
    align: 'right',
    cell: ({ admission }) => (admission.remaining === 0 ? <Tag tone="warn">0</Tag> : admission.remaining),
    sortBy: ({ admission }) => admission.remaining,
  },
  {
    label: 'Took',
    width: 80,
    spare: 7,
    align: 'right',
    cell: ({ duration_ms = null }) => (duration_ms === null ? '–' : tookText(duration_ms)),
    sortBy: ({ duration_ms }) => duration_ms ?? -1,
  },
]

const tookText = (ms: number) => (ms < 10 ? `${ms.toFixed(1)} ms` : durationText(ms))

const like = (text: string | null | undefined, value: string) => {
  if (text === null || text === undefined) return false
  const parts = value.toLowerCase().split('*')
  let from = 0
  return parts.every((part) => {
    const at = text.toLowerCase().indexOf(part, from)
    from = at + part.length
    return at !== -1
  })
}

const FILTERS: Readonly<Record<string, (row: LogRow, value: string) => boolean>> = {
  at: ({ at }, value) => at.startsWith(value.toUpperCase()),
  status: ({ status, end }, value) => {
    if (value === 'cut') return status === 0 || end !== null
    return /^\dxx$/i.test(value) ? String(status)[0] === value[0] : String(status) === value
  },
  method: ({ method }, value) => method.toLowerCase() === value.toLowerCase(),
  path: ({ path }, value) => like(path, value),
  operation: ({ operation }, value) => like(operation, value),
  fault: ({ faults }, value) => faults.some((id) => like(id, value)),
  trace: ({ trace }, value) => like(trace, value),
  key: ({ idempotency_key }, value) => like(idempotency_key, value),
  id: ({ id }, value) => like(id, value),
  // The origins of pages that cannot read the response.
  origin: ({ cors }, value) => cors !== undefined && like(cors.origin ?? '', value),
}

/**
 * Reads a filter: `status:429 -method:post path:pages`; `-` means not, and other words are searched in path and id.
 * @returns a test of requests, and the problem if a part of it is not understood
 */
function requestTest(text: string) {
  const words = text.split(/\s+/).filter((word) => word !== '')
  let problem: string | undefined
  const checks = words.flatMap((word): ((row: LogRow) => boolean)[] => {
    const [, not, name, value = ''] = /^(-?)([a-z_]+):(.*)$/i.exec(word) ?? []
    if (name === undefined) return [(row) => like(row.path, word) || like(row.id, word)]
    const check = FILTERS[name.toLowerCase()]
    if (check !== undefined) return value === '' ? [] : [(row) => check(row, value) !== (not === '-')]
    problem = `There is no filter "${name}:". The filters are ${Object.keys(FILTERS).join(', ')}.`
    return []
  })
  return { test: (row: LogRow) => checks.every((check) => check(row)), problem }
}

const emptyLog = () => act(() => ask('DELETE /requests'), 'The log is empty.')

export default function Requests() {
  const { entries, dropped, capacity, isLoaded, error } = logRows.value
  const { path, query } = here.value
  const [paused, setPaused] = useState<readonly LogRow[] | undefined>(undefined)
  const kind = query.show === 'errors' || query.show === 'faulted' ? query.show : 'all'
  const text = filterText()
  const filter = useMemo(() => requestTest(text), [text])
  // While the filter is invalid, the last valid one stays.
  const valid = useRef(filter)
  if (filter.problem === undefined) valid.current = filter
  const { test } = valid.current
  const all = paused ?? entries
  const rows = useMemo(() => all.filter((row) => KINDS[kind](row) && test(row)), [all, kind, test])
  // While no request has a fault or a trace, its column would only take room from the paths.
  const hasFault = all.some((row) => KINDS.faulted(row) || row.cors !== undefined)
  const hasTrace = all.some(({ trace }) => trace !== undefined)
  const columns = useMemo(() => {
    return COLUMNS.filter(({ label }) => (hasFault || label !== FAULT) && (hasTrace || label !== TRACE))
  }, [hasFault, hasTrace])
  const opened = path[0]
  const waiting = paused === undefined ? 0 : entries.length - paused.length
  if (!isLoaded) return <Skeleton />
  return (
    <>
      <ViewHead title="Requests" summary={`${countOf(entries.length, 'request')} kept · ${dropped} dropped`}>
        <QueryFilter label="Filter requests" placeholder="status:429 path:pages" />
        <Segments
          label="Which requests"
          options={{ all: 'All', errors: 'Errors', faulted: 'Faulted' }}
          value={kind}
          onChoose={(show) => refine({ show: show === 'all' ? '' : show })}
        />
        <Button
          text={waiting > 0 ? `${waiting} new` : 'Live'}
          pressed={paused === undefined}
          icon={paused === undefined ? 'pause' : 'play'}
          onClick={() => setPaused(paused === undefined ? entries : undefined)}
        />
        <Menu
          label="More"
          items={[
            { label: 'Save the recording', icon: 'download', run: saveRecording },
            { label: 'Empty the log', icon: 'trash', danger: true, run: emptyLog },
          ]}
        />
      </ViewHead>
      {filter.problem !== undefined && <Note tone="warn">{filter.problem}</Note>}
      {error !== undefined && missingSandbox.value === undefined && <Problem text={wordsOf(error)} />}
      {entries.length === 0 ? (
        <Waiting />
      ) : (
        <div class="split">
          {rows.length === 0 ? (
            <NoMatch count={all.length} noun="request" />
          ) : (
            <Table
              label={`Requests, newest first, ${capacity} at most`}
              rows={rows}
              columns={columns}
              idOf={({ id }) => id}
              selected={opened}
              onOpen={(id) => open([id])}
              phone={phoneRow}
            />
          )}
          {opened !== undefined && (
            <Panel name="request" width={464}>
              <RequestDetail key={opened} id={opened} row={entries.find(({ id }) => id === opened)} />
            </Panel>
          )}
        </div>
      )}
    </>
  )
}

/** The faults that fired on a request, and whether its page cannot read the response. */
function Interference({ row }: { row: LogRow }) {
  const ids = [...row.faults, ...(row.tomorrow?.map((kind) => `tomorrow: ${kind}`) ?? [])]
  if (row.cors === undefined) return <FaultTag ids={ids} />
  return (
    <>
      <CorsTag row={row} /> {ids.length > 0 && <FaultTag ids={ids} />}
    </>
  )
}

function phoneRow(row: LogRow) {
  const { path, method, at, faults, cors } = row
  const about = [method, timeOfDay(at), faults.join(', '), cors === undefined ? '' : 'blocked by CORS']
  return [
    <code title={path}>{shortPath(path)}</code>,
    about.filter((each) => each !== '').join(' · '),
    <Status row={row} />,
  ] as const
}

function Waiting() {
  const url = `${baseUrl()}/data-views`
  const curl = snippet('curl', { method: 'GET', url, headers: {}, key: 'live_demo_owner' })
  return (
    <Empty
      icon="plug"
      title="Waiting for your first request"
      text="Point any HTTP client at the base URL. Each request appears here the moment it arrives, with the reason for its response."
      code={curl}
    >
      <a class="button" href={linkTo('connect')}>
        More snippets
      </a>
    </Empty>
  )
}
