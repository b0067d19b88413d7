import { type OnScenarioNotice, problemLine } from '../adapters/scenarios/problem.ts'
import { refuseInvalid } from '../core/errors.ts'
import type { ScriptProblem } from '../core/scenarios/source.ts'
import type { Service } from '../core/service.ts'
import { later } from '../core/time/realtime.ts'
import type { EndpointBook } from '../endpoints/book.ts'
import { type InternalOptions, SILENT, startOptions } from './options.ts'
import { serviceFor } from './service.ts'

/** The service of an emulator, with the endpoints of its user. */
export interface OpenEndpoints {
  readonly service: Service
  /** Absent when there are none: then the operations never change. */
  readonly book?: EndpointBook
  /** Loads changed files at once. */
  readonly refresh?: () => Promise<void>
  readonly close?: () => Promise<void>
  /** The digests of its files, for a recording. */
  readonly digests?: () => Promise<Readonly<Record<string, string>>>
}

/** Milliseconds between two looks at a folder that has no files yet. */
const LOOK = 1_000

/** Loads the endpoints of the option. Refuses wrong definitions, unless the option says otherwise. */
export async function openEndpoints(options: InternalOptions): Promise<OpenEndpoints> {
  const { endpoints = startOptions.endpoints.default, followEndpoints = false, logger = SILENT } = options
  const builtIn = serviceFor(options)
  if (options.replay?.endpoints !== undefined) {
    const { serviceWithRecorded } = await import('../endpoints/recorded.ts')
    return { service: serviceWithRecorded(builtIn, options.replay.endpoints) }
  }
  const { hasEndpoints } = await import('../endpoints/is-endpoint.ts')
  if (typeof endpoints === 'string' && !followEndpoints && !(await hasEndpoints(endpoints)))
    return { service: builtIn }
  const [{ EndpointBook }, { EndpointFolder }, { checkEndpoints, clashesOf }] = await Promise.all([
    import('../endpoints/book.ts'),
    import('../endpoints/folder.ts'),
    import('../endpoints/check.ts'),
  ])
  const book = new EndpointBook(builtIn)
  const { service } = book
  if (typeof endpoints !== 'string') {
    const { definitions, problems } = checkEndpoints([...endpoints], '(given)', builtIn)
    refuseProblems([...problems, ...clashesOf(definitions)])
    book.replace(definitions)
    return { service, book }
  }
  const onNotice: OnScenarioNotice = ({ level, message, ...fields }) => logger[level](message, fields)
  const folder = new EndpointFolder(endpoints, book, onNotice)
  // A folder that is created later is loaded then: the compiler and the watch take time that most starts can save.
  let cancel = (): void => {}
  const look = async (): Promise<void> => {
    if (await hasEndpoints(endpoints)) await folder.load()
    else cancel = later(LOOK, () => void look())
  }
  await look()
  const close = async (): Promise<void> => {
    cancel()
    await folder.close()
  }
  try {
    if (!followEndpoints) refuseProblems(book.problems)
  } catch (error) {
    await close()
    throw error
  }
  const digests = async () => {
    const { fileDigests } = await import('../endpoints/recorded.ts')
    // Files that are wrong have not been loaded.
    if (book.problems.length > 0) return {}
    return fileDigests(
      folder.path,
      folder.files.flatMap(({ files }) => [...files]),
    )
  }
  return { service, book, refresh: () => folder.refresh(), close, digests }
}

function refuseProblems(problems: readonly ScriptProblem[]): void {
  refuseInvalid(
    problems.map(({ pointer = '', ...problem }) => ({
      pointer: `/endpoints${pointer}`,
      detail:
        problem.line === undefined && problem.file === '(given)' ? problem.message : problemLine(problem),
    })),
  )
}
