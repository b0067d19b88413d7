import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import * as z from 'zod'
import { refuse } from '../core/errors.ts'
import { type AnyOperation, type Input, operation } from '../core/operation.ts'
import { type RecordedEndpoints, repeated } from '../core/record/own-result.ts'
import { endpointOf } from '../core/scenarios/stub.ts'
import type { Service } from '../core/service.ts'
import { unspecified } from '../service/uncontracted.ts'
import { endpointFiles } from './is-endpoint.ts'

/** A service with the endpoints of a recording, each of which responds as it did. */
export function serviceWithRecorded(builtIn: Service, { operations, results }: RecordedEndpoints): Service {
  const byRequest = new Map(results.map((each) => [each.request, each]))
  const own = operations.map(({ auth, ...facts }): AnyOperation => {
    const made = operation<Input>({
      ...unspecified,
      ...facts,
      summary: `${facts.method} ${facts.path} of the recording`,
      input: () => (facts.method === 'GET' ? {} : { body: z.unknown() }),
      handle: (request) => {
        const result = byRequest.get(request.cause)
        const detail = `The recording has no result of ${facts.name} for this request.`
        return result === undefined ? refuse('internal_error', { detail }) : repeated(result, request)
      },
    })
    return { ...made, ...(auth === false && { auth }) }
  })
  const places = new Set(own.map(endpointOf))
  const others = [...builtIn.operations.values()].filter((each) => !places.has(endpointOf(each)))
  return {
    ...builtIn,
    operations: new Map([...others, ...own].map((each) => [each.name, each])),
    mayName: () => true,
  }
}

/** The digest of each file by its path in a folder. Rejects when one cannot be read. */
export async function fileDigests(folder: string, files: Iterable<string>): Promise<Record<string, string>> {
  const found = [...new Set(files)].sort().map(async (file) => {
    const digest = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
    return [relative(folder, file).replaceAll(sep, '/'), digest] as const
  })
  return Object.fromEntries(await Promise.all(found))
}

/** Whether a folder has the files of a recording, and no others of endpoints. */
export async function hasFilesOf({ files }: RecordedEndpoints, folder: string): Promise<boolean> {
  const names = Object.keys(files)
  const present = await endpointFiles(folder)
  if (names.length === 0 || present.some((file) => files[relative(folder, file)] === undefined)) return false
  const digests = await fileDigests(
    folder,
    names.map((name) => resolve(folder, name)),
  ).catch(() => ({}))
  return names.every((name) => (digests as Record<string, string>)[name] === files[name])
}
