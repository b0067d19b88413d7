import { z } from 'zod'
import { nonEmptyText } from '../core/fields.ts'
import type { Resource } from '../core/service.ts'
import { collection } from '../core/state/collection.ts'

const organizationRecord = () => z.strictObject({ id: nonEmptyText(), name: z.string() })

type Organization = z.output<ReturnType<typeof organizationRecord>>

/** The organizations of the sandbox. No endpoint shows them; teamspaces, users and keys belong to one. */
export const organizations = collection<Organization>({
  name: 'organizations',
  label: 'organization',
  schema: organizationRecord,
  generate: ({ faker, newId }) => ({ id: newId(), name: faker.company.name() }),
})

export const organizationsResource: Resource = {
  name: 'organizations',
  operations: [],
  collections: [organizations],
}
