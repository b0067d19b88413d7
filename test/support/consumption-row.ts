/** A row of the report of consumption with its id as its resource, because responses do not contain the id. */
export const consumptionRow = (id: string, created_at: string, change: object = {}) => ({
  ...{ id, credits: 1, created_at, action: 'converse', organization: 'Harbor Works' },
  ...{ resource: id, resource_type: 'agent', credit_source: 'plan' },
  _emulator: { organization_id: 'org-1' },
  ...change,
})
