import { groupBy } from '../../core/conduct/observed.ts'
import { percentOf } from '../../server/control/coverage/report.ts'
import { Code } from '../code.tsx'
import { type Point, useCoverage } from '../coverage-data.ts'
import { Icon } from '../icon.tsx'
import { Opened } from '../list.tsx'
import { here, linkTo, refine } from '../place.ts'
import { filtered, NoMatch, QueryFilter } from '../query-filter.tsx'
import { CopyButton, Detail, Segments, Tag, ViewHead } from '../ui.tsx'

/** How a point was met: its words, its tone and its icon. */
const MET = {
  service: ['met', 'ok', 'check'],
  fault: ['met by a fault', 'warn', 'bolt'],
  none: ['not met', 'neutral', undefined],
} as const

const WHICH = { gaps: 'Not met', all: 'All' }

export default function Coverage() {
  const { data, notice } = useCoverage()
  if (data === undefined) return notice
  const [opened] = here.value.path
  const which = here.value.query.which === 'gaps' ? 'gaps' : 'all'
  const points = filtered(data.data, ({ id }) => id).filter(({ met }) => which === 'all' || met === null)
  const others = points.filter(({ kind }) => kind !== 'status')
  return (
    <>
      <ViewHead
        title="Coverage"
        summary={`${data.met} of ${data.total} points (${percentOf(data)} %) in all sandboxes`}
      >
        <Segments
          label="Points"
          options={WHICH}
          value={which}
          onChoose={(next) => refine({ which: next === 'all' ? '' : next })}
        />
        <QueryFilter label="Filter points" />
      </ViewHead>
      {notice}
      <div class="split">
        <section class="list" tabIndex={0} aria-label="Points of the contract">
          {points.length === 0 && <NoMatch count={data.total} noun="point" />}
          <Matrix points={points.filter(({ kind }) => kind === 'status')} />
          {[...groupBy(others, (point) => point.kind)].map(([kind, group]) => (
            <section key={kind} class="pad" aria-label={kind}>
              <h2>{kind}</h2>
              <p class="row wraps">
                {group.map((point) => (
                  <Cell key={point.id} point={point} text={point.id.replace(`${kind} `, '')} />
                ))}
              </p>
            </section>
          ))}
        </section>
        <Opened name="point" width={464} id={opened} item={data.data.find(({ id }) => id === opened)}>
          {(point) => <PointDetail point={point} />}
        </Opened>
      </div>
    </>
  )
}

/** A row for each operation, a column for each status of the contract. */
function Matrix({ points }: { points: readonly Point[] }) {
  const cells = new Map(points.map((point) => [point.id, point]))
  const parts = points.map(({ id }) => id.split(' ').slice(1))
  const sorted = (part: number) => [...new Set(parts.map((each) => each[part] ?? ''))].sort()
  const statuses = sorted(1)
  if (points.length === 0) return null
  return (
    <table class="table matrix">
      <thead>
        <tr>
          {['Operation', ...statuses, ''].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {sorted(0).map((operation) => (
          <tr key={operation}>
            <th scope="row">
              <code>{operation}</code>
            </th>
            {statuses.map((status) => {
              const point = cells.get(`status ${operation} ${status}`)
              return <td key={status}>{point && <Cell point={point} text={status} isBare />}</td>
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** @param isBare without its text, except on phones */
function Cell({ point, text, isBare }: { point: Point; text: string; isBare?: boolean }) {
  const [words, tone, icon] = MET[point.met ?? 'none']
  return (
    <a
      class={`cell row ${tone}`}
      href={linkTo('coverage', [point.id], here.value.query)}
      aria-label={`${point.id.replace('status ', '')}: ${words}`}
      aria-current={here.value.path[0] === point.id ? 'true' : undefined}
      title={point.met === null ? `${words}: ${point.how}` : words}
    >
      {icon !== undefined && <Icon name={icon} size={14} />}
      <span class={isBare ? 'phone-only' : ''}>{text}</span>
    </a>
  )
}

function PointDetail({ point }: { point: Point }) {
  const [words, tone, icon] = MET[point.met ?? 'none']
  const tag = (
    <Tag tone={tone} icon={icon}>
      {words}
    </Tag>
  )
  return (
    <Detail label={`Point ${point.id}`} title={<code>{point.id}</code>} head={tag}>
      <h3>How to meet it</h3>
      <Code label="How to meet it" text={point.how} />
      <CopyButton text={() => point.how}>Copy</CopyButton>
    </Detail>
  )
}
