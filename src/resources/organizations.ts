import * as z from 'zod'
import { nonEmptyText } from '../kernel/fields.ts'
import type { Resource } from '../kernel/operation.ts'
import { collection } from '../kernel/state/collection.ts'

const organizationRecord = () => z.strictObject({ id: nonEmptyText(), name: z.string() })

type Organization = z.output<ReturnType<typeof organizationRecord>>

/** The organizations of the world. No endpoint shows them; teamspaces, users and keys belong to one. */
export const organizations = collection<Organization>({
  name: 'organizations',
  label: 'organization',
  schema: organizationRecord,
  generate: ({ faker, newId }) => ({ id: newId(), name: faker.company.name() }),
})

export const organizationsRoom: Resource = {
  name: 'organizations',
  operations: [],
  collections: [organizations],
}
