import { declareError, statusSetting } from '../../core/error-kinds.ts'

export const notReadyStatus = statusSetting(
  'results_not_ready',
  'U042',
  409,
  'to a read of results before they are ready',
)

export const resultsNotReady = declareError('results_not_ready', {
  status: notReadyStatus,
  title: 'Results Not Ready',
  retryable: true,
  mitigation: 'Poll until the status is terminal, or advance the virtual clock, then read the results.',
  meaning: 'The results of a batch exist once it is completed, failed, expired or cancelled.',
  sentence: 'The results are not available yet.',
})

export const resultsGone = declareError('results_gone', {
  status: 410,
  title: 'Results Gone',
  retryable: false,
  meaning: 'The result lines have been cleaned up, 29 days after the batch was created.',
  sentence: 'The results have been cleaned up.',
})
