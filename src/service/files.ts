import { z } from 'zod'
import { type InputOf, intBetween, nonEmptyText } from '../core/fields.ts'
import type { Resource } from '../core/service.ts'
import { collection } from '../core/state/collection.ts'
import { refersTo } from './records.ts'
import { teamspaces } from './teamspaces/schema.ts'

const fileRecord = () =>
  z.strictObject({
    id: nonEmptyText(),
    teamspace_id: z.string(),
    name: z.string(),
    /** A word for its format, such as `pdf`; it has no effect. */
    kind: nonEmptyText(),
    /** Number of pages; null for a format without pages (U038). */
    pages: intBetween(1, 1_000_000).nullable().default(null),
    /** Whether batches accept the type. */
    supported: z.boolean().default(true),
    /** False for a file that exists and cannot be accessed. */
    readable: z.boolean().default(true),
  })

export type File = z.output<ReturnType<typeof fileRecord>>

/** A record of `files` to write. */
export type FileRecord = InputOf<typeof fileRecord>

/** Files that items of a batch refer to. The service shows no fields of files: these are the facts that validation needs. */
export const files = collection<File>({
  name: 'files',
  label: 'file',
  schema: fileRecord,
  check: refersTo(teamspaces, 'teamspace_id'),
  generate: ({ faker, chance, newId, any }) => {
    const { kind, paged } = chance.pick([
      { kind: 'pdf', paged: true },
      { kind: 'document', paged: true },
      { kind: 'spreadsheet', paged: false },
      { kind: 'image', paged: false },
    ])
    return {
      id: newId(),
      teamspace_id: any(teamspaces).id,
      name: `${faker.commerce.department()} ${faker.commerce.isbn()}.${kind}`,
      kind,
      pages: paged ? chance.int(1, 40) : null,
    }
  },
})

/** No endpoint creates or shows files: they come from fixtures and the control API (U039). */
export const filesResource: Resource = { name: 'files', operations: [], collections: [files] }
