// Roll-up, session client, bootstrap templates, reclaim, UpcomingNode, AvailableCapacity.
// Built by a later issue; exports nothing yet.
export {};
