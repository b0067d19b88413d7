import { readdirSync } from 'node:fs'
import { problemLine } from '../adapters/scenarios/problem.ts'
import { attempt } from '../adapters/storage/files.ts'
import { refuseInvalid } from '../core/errors.ts'
import type { Service } from '../core/service.ts'
import { repeatEvery } from '../core/time/realtime.ts'
import { EndpointBook, endpointFiles, GIVEN } from '../endpoints/book.ts'
import type { EndpointFolder } from '../endpoints/folder.ts'
import { noticesTo } from './data-folder.ts'
import { type InternalOptions, startOptions } from './options.ts'

/** Milliseconds between two looks at a folder that has no files yet. */
const LOOK = 1_000

/** Loads the endpoints of the option, and adds them to a service. Refuses wrong definitions, unless the option says otherwise. */
export async function openEndpoints(builtIn: Service, options: InternalOptions): Promise<EndpointBook> {
  const { endpoints = startOptions.endpoints.default, followEndpoints = false } = options
  if (options.replay?.endpoints !== undefined) {
    const { serviceWithRecorded } = await import('../endpoints/recorded.ts')
    const recorded = new EndpointBook(serviceWithRecorded(builtIn, options.replay.endpoints))
    Object.assign(recorded.service, { mayName: () => true })
    return recorded
  }
  const book = new EndpointBook(builtIn)
  if (typeof endpoints !== 'string') {
    const { takeEndpoints } = await import('../endpoints/folder.ts')
    takeEndpoints(endpoints, book)
    refuseProblems(book)
    return book
  }
  let folder: Promise<EndpointFolder> | undefined
  const load = async (): Promise<EndpointFolder> => {
    const files = await import('../endpoints/folder.ts')
    const opened = new files.EndpointFolder(endpoints, book, noticesTo(options))
    await opened.load()
    return opened
  }
  // The compiler and the watch of scripts take time, which a start without files saves.
  const look = async (): Promise<void> => {
    const isEmpty = () => (attempt(() => readdirSync(endpoints)) ?? []).length === 0
    if (folder === undefined && (isEmpty() || (await endpointFiles(endpoints)).length === 0)) return
    stopLooking()
    folder ??= load()
    await folder
  }
  // A look that fails, as without a free file descriptor, is repeated.
  const stopLooking = repeatEvery(LOOK, () => void look().catch(() => {}))
  book.refresh = async () => {
    await look()
    await (await folder)?.refresh()
  }
  book.close = async () => {
    stopLooking()
    await (await folder)?.close()
  }
  await look()
  book.digests = async () => {
    const opened = await folder
    // Files that are wrong have not been loaded.
    if (opened === undefined || book.problems.length > 0) return {}
    const { fileDigests } = await import('../endpoints/recorded.ts')
    return fileDigests(
      opened.path,
      opened.files.flatMap(({ files }) => [...files]),
    )
  }
  if (!followEndpoints) refuseProblems(book)
  return book
}

function refuseProblems({ problems }: EndpointBook): void {
  refuseInvalid(
    problems.map(({ pointer = '', ...problem }) => ({
      pointer: `/endpoints${pointer}`,
      detail: problem.file === GIVEN && problem.line === undefined ? problem.message : problemLine(problem),
    })),
  )
}
