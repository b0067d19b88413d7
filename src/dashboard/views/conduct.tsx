import { findingCounts } from '../../core/conduct/finding-lines.ts'
import { ask, type Output } from '../api.ts'
import type { Column } from '../columns.ts'
import { countOf, pretty } from '../format.ts'
import { List } from '../list.tsx'
import { useLive } from '../loaded.tsx'
import { goTo, here, linkTo } from '../place.ts'
import { QueryFilter } from '../query-filter.tsx'
import { Button, Detail, Empty, FactList, Links, Note, Tag, type Tone, ViewHead } from '../ui.tsx'

type Finding = Output<'GET /conduct'>['data'][number]

const TONES: Readonly<Record<Finding['severity'], Tone>> = {
  error: 'error',
  warning: 'warn',
  note: 'neutral',
}

const COLUMNS: readonly Column<Finding>[] = [
  { label: 'Severity', width: 96, cell: (row) => <SeverityTag {...row} /> },
  { label: 'Verdict', width: 208, cell: ({ code }) => code },
  { label: 'What happened', spare: 1, cell: ({ message }) => <span title={message}>{message}</span> },
  { label: 'Requests', width: 88, spare: 2, align: 'right', cell: (row) => row.requests.length },
]

// A finding keeps its address while requests are added after it.
const idOf = ({ code, requests }: Finding) => `${code} ${requests[0] ?? ''}`

export default function ConductView() {
  const { data: report, notice } = useLive(() => ask('GET /conduct'), ['request', 'event'])
  if (report === undefined) return notice
  const { data, judged, not_judged } = report
  return (
    <>
      <ViewHead title="Conduct" summary={`${findingCounts(data)} in ${countOf(judged.requests, 'request')}`}>
        <QueryFilter label="Filter findings" />
      </ViewHead>
      {notice}
      {not_judged.map((reason) => (
        <Note key={reason}>{reason}</Note>
      ))}
      <div class="split">
        <List
          {...{ label: 'Findings, the most severe first', noun: 'finding' }}
          items={data}
          textOf={({ severity, code, message }) => `${severity} ${code} ${message}`}
          empty={
            <Empty
              icon="ok"
              title="No findings"
              text="A finding is something that the client did wrong: it waited too short, repeated a request without a key, left connections open. Arm a fault, and see how your client behaves."
            >
              <Button text="Arm a fault" onClick={() => goTo(linkTo('faults'))} />
            </Empty>
          }
          columns={COLUMNS}
          idOf={idOf}
          selected={here.value.path[0]}
          phone={(row) => [<code>{row.code}</code>, row.message, <SeverityTag {...row} />]}
        >
          {(finding) => <FindingDetail {...finding} />}
        </List>
      </div>
    </>
  )
}

function FindingDetail({ severity, code, message, requests, evidence, section, fix }: Finding) {
  const facts = Object.entries(evidence).map(
    ([name, value]) =>
      [name.replaceAll('_', ' '), typeof value === 'object' ? pretty(value) : String(value)] as const,
  )
  return (
    <Detail label={`Finding ${code}`} title={<code>{code}</code>} head={<SeverityTag severity={severity} />}>
      <p>{message}</p>
      <h3>Fix</h3>
      <p>{fix}</p>
      <h3>Requests</h3>
      <Links items={requests.map((id) => [linkTo('requests', [id]), id])} />
      <h3>Evidence</h3>
      <FactList facts={[...facts, ['section', section]]} />
    </Detail>
  )
}

function SeverityTag({ severity }: Pick<Finding, 'severity'>) {
  return <Tag tone={TONES[severity]}>{severity}</Tag>
}
