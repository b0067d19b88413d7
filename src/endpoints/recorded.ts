import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { z } from 'zod'
import { portablePath } from '../adapters/scenarios/folder.ts'
import { refuse } from '../core/errors.ts'
import { type AnyOperation, operation } from '../core/operation.ts'
import { type RecordedEndpoints, repeated } from '../core/record/own-result.ts'
import { endpointOf } from '../core/scenarios/stub.ts'
import type { Service } from '../core/service.ts'
import { unspecified } from '../service/uncontracted.ts'
import { endpointFiles } from './book.ts'

/** A service with the endpoints of a recording, each of which responds as it did. */
export function serviceWithRecorded(builtIn: Service, { operations, results }: RecordedEndpoints): Service {
  const byRequest = new Map(results.map((each) => [each.request, each]))
  const own = operations.map((facts): AnyOperation => {
    return operation({
      ...unspecified,
      ...facts,
      summary: `${facts.name} of the recording`,
      input: () => (facts.method === 'GET' ? {} : { body: z.unknown() }),
      handle: (request) => {
        const result = byRequest.get(request.cause)
        if (result !== undefined) return repeated(result, request)
        return refuse('internal_error', {
          detail: `The recording has no result of ${facts.name} for this request.`,
        })
      },
    })
  })
  const places = new Set(own.map(endpointOf))
  const others = [...builtIn.operations.values()].filter((each) => !places.has(endpointOf(each)))
  const all = new Map([...others, ...own].map((each) => [each.name, each]))
  return { ...builtIn, operations: all }
}

/** The digest of each file by its path in a folder. Rejects when one cannot be read. */
export async function fileDigests(folder: string, files: Iterable<string>): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const file of new Set(files))
    found[portablePath(folder, file)] = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
  return found
}

/** Whether a folder has the files of a recording, and no others of endpoints. */
export async function hasFilesOf({ files }: RecordedEndpoints, folder: string): Promise<boolean> {
  const recorded = Object.keys(files).map((name) => resolve(folder, name))
  const present = await fileDigests(folder, [...recorded, ...(await endpointFiles(folder))]).catch(() => ({}))
  const names = Object.keys(present)
  return names.length > 0 && names.every((name) => (present as typeof files)[name] === files[name])
}
