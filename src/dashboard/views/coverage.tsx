import { percentOf } from '../../server/control/coverage/report.ts'
import { Code } from '../code.tsx'
import type { Column } from '../columns.ts'
import { metIcon, metWords, type Point, statusPoints, useCoverage } from '../coverage-data.ts'
import { countOf } from '../format.ts'
import { Icon } from '../icon.tsx'
import { List, Opened } from '../list.tsx'
import { here, linkTo, refine } from '../place.ts'
import { filtered, NoMatch, QueryFilter } from '../query-filter.tsx'
import { CopyButton, Detail, Empty, Segments, Tag, ViewHead } from '../ui.tsx'

const COLUMNS: readonly Column<Point>[] = [
  { label: 'Met', width: 112, cell: (point) => <MetTag {...point} /> },
  { label: 'Point', cell: ({ id }) => <span title={id}>{id}</span> },
  { label: 'How to meet it', cell: ({ how }) => <span title={how}>{how}</span> },
]

const WHICH = { matrix: 'Statuses', gaps: 'Not met', all: 'All' }

export default function Coverage() {
  const { data, notice } = useCoverage()
  if (data === undefined) return notice
  const { which = 'matrix' } = here.value.query
  const [opened] = here.value.path
  const points = data.data.filter(({ id, met }) => which !== 'gaps' || met === null || id === opened)
  const detail = (point: Point) => <PointDetail {...point} />
  return (
    <>
      <ViewHead
        title="Coverage"
        summary={`${data.met} of ${data.total} points (${percentOf(data)} %) in all sandboxes`}
      >
        <Segments
          label="Points"
          options={WHICH}
          value={which as keyof typeof WHICH}
          onChoose={(next) => refine({ which: next === 'matrix' ? '' : next })}
        />
        <QueryFilter label="Filter points" />
      </ViewHead>
      {notice}
      <div class="split">
        {which === 'matrix' ? (
          <>
            <Matrix points={data.data} />
            <Opened name="point" width={464} id={opened} item={points.find(({ id }) => id === opened)}>
              {detail}
            </Opened>
          </>
        ) : (
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
            {detail}
          </List>
        )}
      </div>
    </>
  )
}

/** A row for each operation, a column for each status of the contract. */
function Matrix({ points }: { points: readonly Point[] }) {
  const { statuses, rows: all } = statusPoints(points)
  const rows = filtered(all, ({ operation }) => operation)
  if (rows.length === 0) return <NoMatch count={all.length} noun="operation" />
  return (
    <section class="list" tabIndex={0} aria-label="Statuses of each operation">
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">Operation</th>
            {statuses.map((status) => (
              <th key={status} scope="col">
                {status}
              </th>
            ))}
            <th class="wide-only" aria-hidden="true" />
          </tr>
        </thead>
        <tbody>
          {rows.map(({ operation, cells }) => (
            <tr key={operation}>
              <th scope="row">
                <code>{operation}</code>
              </th>
              {statuses.map((status) => (
                <td key={status}>
                  <Cell status={status} point={cells.get(status)} />
                </td>
              ))}
              <td class="wide-only" aria-hidden="true" />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Cell({ status, point }: { status: string; point: Point | undefined }) {
  if (point === undefined) return null
  const { id, met, how } = point
  return (
    <a
      class={`cell center ${met === null ? '' : met === 'service' ? 'ok' : 'warn'}`}
      href={linkTo('coverage', [id], here.value.query)}
      aria-label={`${id.replace('status ', '')}: ${metWords(met)}`}
      aria-current={here.value.path[0] === id ? 'true' : undefined}
      title={met === null ? `${metWords(met)}: ${how}` : metWords(met)}
    >
      {met !== null && <Icon name={metIcon(met)} size={14} />}
      <span class="phone-only">{status}</span>
    </a>
  )
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
  if (met === null) return <Tag>{metWords(met)}</Tag>
  return (
    <Tag tone={met === 'service' ? 'ok' : 'warn'} icon={metIcon(met)}>
      {metWords(met)}
    </Tag>
  )
}
