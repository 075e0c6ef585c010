// What would have changed the answer: `Counterfactual.reason_code` (engine §15.7).

export const counterfactuals = {
  price_headroom: {
    meaning: 'By how much a price could move before another machine is chosen.',
    action: 'Nothing: it shows how close the decision was.',
  },
  relax_requirement: {
    meaning: 'Without one requirement the need would be covered.',
    action: 'Drop or widen the named requirement if the workload allows it.',
  },
  relax_domain: {
    meaning: 'In another domain, or across several, the need would be covered.',
    action: 'Widen the topology constraint if the workload allows it.',
  },
  raise_priority: {
    meaning: 'With a higher priority the need would be covered.',
    action: 'Raise the priority if the need deserves it.',
  },
  raise_quota: {
    meaning: 'With more quota the need would be covered.',
    action: 'Raise the quota at the provider and in its registration.',
  },
  wait_for_drain: {
    meaning: 'Machines that are draining will cover the need.',
    action: 'Wait.',
  },
  wait_for_create: {
    meaning: 'Machines that are being created will cover the need.',
    action: 'Wait.',
  },
} as const;

export type CounterfactualReason = keyof typeof counterfactuals;
