import { EmulatorError } from '../../client/emulator-error.ts'
import { percentOf } from '../../server/control/coverage/report.ts'
import { ask, type Output } from '../api.ts'
import { Code } from '../code.tsx'
import type { Column } from '../columns.ts'
import { countOf } from '../format.ts'
import { List } from '../list.tsx'
import { useLive } from '../loaded.tsx'
import { here, refine } from '../place.ts'
import { QueryFilter } from '../query-filter.tsx'
import { CopyButton, Detail, Empty, Segments, Tag, ViewHead } from '../ui.tsx'

type Point = Output<'GET /coverage'>['data'][number]

const COLUMNS: readonly Column<Point>[] = [
  { label: 'Met', width: 112, cell: (point) => <MetTag {...point} /> },
  { label: 'Point', cell: ({ id }) => <span title={id}>{id}</span> },
  { label: 'How to meet it', cell: ({ how }) => <span title={how}>{how}</span> },
]

export default function Coverage() {
  const { data, notice } = useLive(coverage, ['request', 'event'])
  if (data === undefined) return notice
  if (data === 'not counted') return <NotCounted />
  const isAll = here.value.query.show === 'all'
  const [opened] = here.value.path
  // The opened point stays when it is met.
  const points = data.data.filter(({ id, met }) => isAll || met === null || id === opened)
  return (
    <>
      <ViewHead
        title="Coverage"
        summary={`${data.met} of ${data.total} points (${percentOf(data)} %) in all sandboxes`}
      >
        <Segments
          label="Points"
          options={{ gaps: 'Not met', all: 'All' }}
          value={isAll ? 'all' : 'gaps'}
          onChoose={(show) => refine({ show: show === 'all' ? 'all' : '' })}
        />
        <QueryFilter label="Filter points" />
      </ViewHead>
      {notice}
      <div class="split">
        <List
          {...{ label: 'Points of the contract, the cheapest first', noun: 'point' }}
          items={points}
          textOf={({ id }) => id}
          empty={<Empty icon="ok" title="Every point is met" text={countOf(data.total, 'point')} />}
          columns={COLUMNS}
          idOf={({ id }) => id}
          selected={opened}
          phone={(point) => [<code>{point.id}</code>, point.how, <MetTag {...point} />]}
        >
          {(point) => <PointDetail {...point} />}
        </List>
      </div>
    </>
  )
}

async function coverage(): Promise<Output<'GET /coverage'> | 'not counted'> {
  try {
    return await ask('GET /coverage')
  } catch (error) {
    if (error instanceof EmulatorError && error.code === 'conflict') return 'not counted'
    throw error
  }
}

function PointDetail({ id, how, met }: Point) {
  return (
    <Detail label={`Point ${id}`} title={<code>{id}</code>}>
      <h3>How to meet it</h3>
      <Code label="How to meet it" text={how} />
      <p class="row-actions">
        <MetTag met={met} />
        <CopyButton text={() => how}>Copy</CopyButton>
      </p>
    </Detail>
  )
}

function MetTag({ met }: Pick<Point, 'met'>) {
  if (met === null) return <Tag>not met</Tag>
  return met === 'service' ? <Tag tone="ok">met</Tag> : <Tag tone="warn">by a fault</Tag>
}

function NotCounted() {
  return (
    <>
      <ViewHead title="Coverage" />
      <Empty
        icon="ok"
        title="Coverage is not counted"
        text="Start the emulator with --count-coverage, or run the tests with exec --coverage FILE, to see which statuses, errors, values and events of the contract your client has met."
        code="npx agent-workspace-emulator start --count-coverage"
      />
    </>
  )
}
