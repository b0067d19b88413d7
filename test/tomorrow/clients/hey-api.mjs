// The SDK that @hey-api/openapi-ts generates, with its zod schemas as the check of responses.
import { client } from 'generated/hey/client.gen.ts'
import * as api from 'generated/hey/sdk.gen.ts'
import { BATCH, report, SKILL, TEAMSPACE } from './calls.mjs'

const { WORKSPACE_BASE_URL: baseUrl, WORKSPACE_API_KEY: key } = process.env
client.setConfig({ baseUrl, auth: () => key, throwOnError: true })

await report({
  'pages.create': () => api.pagesCreate({ body: { name: 'Plan' } }),
  'teamspaces.create': () => api.teamspacesCreate({ body: { name: 'Pier' } }),
  'teamspace-users.list': () => api.teamspaceUsersList({ path: { teamspace_id: TEAMSPACE } }),
  'skills.promote': () => api.skillsPromote({ path: { skill_id: SKILL } }),
  'data-views.list': () => api.dataViewsList({}),
  'batch-predictions.create': async () => (await api.batchPredictionsCreate({ body: BATCH })).data,
  'batch-predictions.retrieve': ({ id }) =>
    api.batchPredictionsRetrieve({ path: { batch_prediction_id: id } }),
})
