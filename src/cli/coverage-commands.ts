import { existsSync } from 'node:fs'
import { z } from 'zod'
import { parsed, zodIssues } from '../core/zod-issues.ts'
import { optional } from '../emulator/option.ts'
import {
  type CoverageReport,
  coverageOf,
  coveredPoint,
  mergedPoints,
  POINT_KINDS,
  percentOf,
} from '../server/control/coverage/report.ts'
import { CommandFailed, command, FAILED } from '../terminal/command.ts'
import { controlOf } from '../terminal/control-client.ts'
import { requireJsonFile } from '../terminal/json-files.ts'
import type { Line } from '../terminal/line.ts'
import { CLIENT_OPTIONS, kinds } from '../terminal/options.ts'
import { show, table } from '../terminal/print.ts'
import { writeJson } from '../terminal/text-file.ts'

export const coverageCommands = [
  command({
    name: 'coverage',
    description: 'Show which points of the contract clients have met, and how to meet the next ones',
    args: {
      '[files...]':
        'files of exec --coverage, such as one of each CI job, which are added; without any, an emulator that runs with --count-coverage',
    },
    options: {
      ...CLIENT_OPTIONS,
      failUnder: optional(
        kinds.percentage,
        'none',
        'exit with 1 if less than this percentage of the points was met',
      ),
    },
    run: async (invocation) => {
      const { args, options } = invocation
      const report = args.length === 0 ? await controlOf(options)('GET /coverage') : await added(args)
      const code = show(invocation, report, coverageLines(report))
      const { failUnder } = options
      if (failUnder === undefined || (100 * report.met) / report.total >= failUnder) return code
      invocation.terminal.err(`The clients have met ${percentOf(report)} %, less than ${failUnder} %.`)
      return FAILED
    },
  }),
]

/** Reads a file of `exec --coverage`. Throws {@link CommandFailed} if it is none. */
export async function readCoverage(file: string): Promise<CoverageReport> {
  const { document } = await requireJsonFile(file)
  // Only what merging needs; a file of a later version may have more.
  const { data, error } = parsed(z.object({ data: z.array(z.object(coveredPoint().shape)) }), document)
  if (error === undefined) return coverageOf(data.data)
  const [issue] = zodIssues(error, '')
  throw new CommandFailed(
    `${file} is not a file of exec --coverage: ${issue?.pointer || '/'} ${issue?.detail}. Give another file, or remove it.`,
  )
}

async function added(files: readonly string[], own?: CoverageReport): Promise<CoverageReport> {
  let points = own?.data ?? []
  for (const file of files) points = mergedPoints(points, (await readCoverage(file)).data)
  return coverageOf(points)
}

/** Adds the points of a run to a file. @returns the report that the file has now */
export async function addToFile(file: string, report: CoverageReport): Promise<CoverageReport> {
  const merged = await added(existsSync(file) ? [file] : [], report)
  writeJson(file, merged)
  return merged
}

/** The counts of a report in one sentence. */
export function coverageSentence(report: CoverageReport): string {
  const { met, total, met_by_faults: byFaults } = report
  const some = byFaults === 0 ? '' : `, ${byFaults} of them only with faults`
  return `Coverage: ${met} of ${total} points of the contract (${percentOf(report)} %)${some}.`
}

function coverageLines(report: CoverageReport): Line[] {
  const kinds = POINT_KINDS.map((kind) => {
    const points = report.data.filter((point) => point.kind === kind)
    return [kind, points.filter(({ met }) => met !== null).length, points.length]
  })
  const gaps = report.gaps.flatMap(({ id, how }) => [`  ${id}`, `    ${how}`])
  return [
    coverageSentence(report),
    ...table(['KIND', 'MET', 'POINTS'], kinds),
    ...(gaps.length === 0 ? [] : ['Not met, the cheapest first:', ...gaps]),
  ]
}
