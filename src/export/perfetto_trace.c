// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/utf8.h"
#include "perfetto.h"

#define SEQUENCE	   1
#define SEQUENCE_BEGINS	   1 /* what was interned before is void */
#define SEQUENCE_CONTINUES 2
#define CLOCK_REAL	   1
#define CLOCK_MONO	   3
#define MERGE_NONE	   2 /* tracks of one name stay several */
#define ORDER_IID	   1

static const char order_text[] =
	"not measured: dwell sums up a window, and the parts are laid out by state";

void trace_packet(struct trace *trace, Perfetto__TracePacket *packet)
{
	Perfetto__Trace part = PERFETTO__TRACE__INIT;

	WIRE_SET(packet, trusted_packet_sequence_id, SEQUENCE);
	if (!packet->has_sequence_flags)
		WIRE_SET(packet, sequence_flags, SEQUENCE_CONTINUES);
	part.n_packet = 1;
	part.packet = &packet;
	wire_put(&trace->wire, &part.base);
}

void trace_intern(struct trace *trace, Perfetto__InternedData *data)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = data;
	trace_packet(trace, &packet);
}

/* The clock of all times, and what it was at the start by the time of day. */
static void put_head(struct trace *trace)
{
	const struct timeline_facts *facts = &trace->timeline->facts;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__StackSampleDefaults samples = PERFETTO__STACK_SAMPLE_DEFAULTS__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock mono = PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT, real = mono;

	WIRE_SET(&mono, clock_id, CLOCK_MONO);
	WIRE_SET(&mono, timestamp, facts->started_ns);
	WIRE_SET(&real, clock_id, CLOCK_REAL);
	WIRE_SET(&real, timestamp, facts->started_real_ns);
	snapshot.clocks = (Perfetto__ClockSnapshot__Clock *[]){&mono, &real};
	snapshot.n_clocks = facts->started_real_ns ? 2 : 1;
	WIRE_SET(&snapshot, primary_trace_clock, CLOCK_MONO);
	packet.clock_snapshot = &snapshot;
	samples.source = (char *)"dwell";
	defaults.stack_sample_defaults = &samples;
	WIRE_SET(&defaults, timestamp_clock_id, CLOCK_MONO);
	packet.trace_packet_defaults = &defaults;
	WIRE_SET(&packet, sequence_flags, SEQUENCE_BEGINS);
	trace_packet(trace, &packet);
}

static void put_note_names(struct trace *trace)
{
	static const char *const texts[] = {
#define NOTE(NAME, name) [NOTE_##NAME] = name,
		TRACE_NOTES(NOTE)
#undef NOTE
#define PART(NAME, name, ...) [NOTE_PART_##NAME] = #name "_ns",
			REQUEST_PARTS(PART)
#undef PART
	};
	Perfetto__InternedName names[NOTE_END], *places[NOTE_END];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedString order = PERFETTO__INTERNED_STRING__INIT;

	for (u64 i = 1; i < NOTE_END; i++) {
		perfetto__interned_name__init(&names[i]);
		WIRE_SET(&names[i], iid, i);
		names[i].name = (char *)texts[i];
		places[data.n_debug_annotation_names++] = &names[i];
	}
	data.debug_annotation_names = places;
	WIRE_SET(&order, iid, ORDER_IID);
	order.has_str = true;
	order.str = (ProtobufCBinaryData){sizeof(order_text) - 1, (u8 *)order_text};
	data.debug_annotation_string_values = (Perfetto__InternedString *[]){&order};
	data.n_debug_annotation_string_values = 1;
	trace_intern(trace, &data);
}

int trace_begin(struct trace *trace, const struct export_source *source, FILE *out)
{
	const struct timeline *timeline = source->timeline;
	int err = wire_begin(&trace->wire, out, false);

	if (err)
		return err;
	trace->timeline = timeline;
	trace->profile = source->profile;
	trace->lanes = 0;
	trace->err = 0;
	trace->has_process = calloc(timeline->processes.count + 1, sizeof(bool));
	trace->has_thread = calloc(timeline->threads.count + 1, sizeof(bool));
	trace->has_ledger = calloc(timeline->threads.count + 1, sizeof(bool));
	strings_init(&trace->names, TRACE_NAMES_MAX);
	if (!trace->has_process || !trace->has_thread || !trace->has_ledger ||
	    strings_add(&trace->names, "") != 0)
		trace->err = -ENOMEM;
	put_head(trace);
	put_note_names(trace);
	return trace->err;
}

void trace_end(struct trace *trace)
{
	wire_end(&trace->wire);
	strings_free(&trace->names);
	free(trace->has_process);
	free(trace->has_thread);
	free(trace->has_ledger);
}

static void put_track(struct trace *trace, Perfetto__TrackDescriptor *track)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.track_descriptor = track;
	trace_packet(trace, &packet);
}

u64 trace_process(struct trace *trace, u32 index)
{
	const struct timeline *timeline = trace->timeline;
	const struct timeline_process *process = hash_item(&timeline->processes, index);
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor descriptor = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	char service[4 * TIMELINE_NAME_BYTES], comm[4 * TIMELINE_NAME_BYTES];
	u64 uuid = trace_uuid(TRACK_PROCESS, index);

	if (trace->err || trace->has_process[index])
		return uuid;
	trace->has_process[index] = true;
	utf8_escape(comm, sizeof(comm), timeline_text(timeline, process->comm));
	utf8_escape(service, sizeof(service), timeline_service(timeline, process));
	WIRE_SET(&descriptor, pid, (s32)process->pid);
	WIRE_SET(&descriptor, start_timestamp_ns, (s64)process->start_ns);
	descriptor.process_name = comm;
	descriptor.process_labels = (char *[]){service};
	descriptor.n_process_labels = *service ? 1 : 0;
	WIRE_SET(&track, uuid, uuid);
	track.process = &descriptor;
	put_track(trace, &track);
	return uuid;
}

u64 trace_thread(struct trace *trace, u32 index)
{
	const struct timeline *timeline = trace->timeline;
	const struct timeline_thread *thread = hash_item(&timeline->threads, index);
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor descriptor = PERFETTO__THREAD_DESCRIPTOR__INIT;
	char comm[4 * TIMELINE_NAME_BYTES];
	u64 uuid = trace_uuid(TRACK_THREAD, index);

	if (trace->err || trace->has_thread[index])
		return uuid;
	/* A sum of many threads is none of them: its tracks are the process's own. */
	if (thread->is_sum)
		return trace_process(trace, thread->process);
	trace->has_thread[index] = true;
	utf8_escape(comm, sizeof(comm), timeline_text(timeline, thread->comm));
	WIRE_SET(&descriptor, pid, (s32)thread->pid);
	WIRE_SET(&descriptor, tid, (s64)thread->tid);
	descriptor.thread_name = comm;
	WIRE_SET(&track, uuid, uuid);
	WIRE_SET(&track, parent_uuid, trace_process(trace, thread->process));
	track.thread = &descriptor;
	put_track(trace, &track);
	return uuid;
}

void trace_track(struct trace *trace, u64 uuid, u64 parent, const char *name, const char *about,
		 const char *unit)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;

	WIRE_SET(&track, uuid, uuid);
	if (parent)
		WIRE_SET(&track, parent_uuid, parent);
	track.name = (char *)name;
	track.description = (char *)about;
	if (unit) {
		counter.unit_name = (char *)unit;
		track.counter = &counter;
	} else {
		WIRE_SET(&track, sibling_merge_behavior, MERGE_NONE);
	}
	put_track(trace, &track);
}

u64 trace_lane(struct trace *trace, u64 parent, const char *name, const char *about)
{
	u64 uuid = trace_uuid(TRACK_LANE, ++trace->lanes);

	trace_track(trace, uuid, parent, name, about, NULL);
	return uuid;
}

/* The number of a name, which is told if it is new; 0: there is no more room for names. */
static u64 name_iid(struct trace *trace, const char *name)
{
	size_t before = trace->names.count;
	u32 number = strings_add(&trace->names, name);
	Perfetto__InternedName interned = PERFETTO__INTERNED_NAME__INIT;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	if (number == STRINGS_NONE)
		return 0;
	if (trace->names.count == before)
		return number;
	WIRE_SET(&interned, iid, number);
	interned.name = (char *)name;
	data.event_names = (Perfetto__InternedName *[]){&interned};
	data.n_event_names = 1;
	trace_intern(trace, &data);
	return number;
}

void trace_event(struct trace *trace, struct trace_event *event, u64 track, const char *name)
{
	u64 iid = name_iid(trace, name);

	perfetto__track_event__init(&event->event);
	WIRE_SET(&event->event, track_uuid, track);
	if (iid)
		WIRE_SET(&event->event, name_iid, iid);
	else
		event->event.name = (char *)name;
	event->event.debug_annotations = event->note_places;
}

static Perfetto__DebugAnnotation *add_note(struct trace_event *event, enum trace_note note)
{
	Perfetto__DebugAnnotation *added = &event->notes[event->event.n_debug_annotations];

	perfetto__debug_annotation__init(added);
	WIRE_SET(added, name_iid, note);
	event->note_places[event->event.n_debug_annotations++] = added;
	return added;
}

void trace_note(struct trace_event *event, enum trace_note note, u64 value)
{
	Perfetto__DebugAnnotation *added = add_note(event, note);

	WIRE_SET(added, uint_value, value);
}

void trace_note_text(struct trace_event *event, enum trace_note note, const char *value)
{
	add_note(event, note)->string_value = (char *)value;
}

void trace_note_order(struct trace_event *event)
{
	Perfetto__DebugAnnotation *added = add_note(event, NOTE_ORDER);

	WIRE_SET(added, string_value_iid, ORDER_IID);
}

static void put_event(struct trace *trace, Perfetto__TrackEvent *event, u32 type, u64 ts_ns)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	WIRE_SET(event, type, type);
	WIRE_SET(&packet, timestamp, ts_ns);
	packet.track_event = event;
	trace_packet(trace, &packet);
}

void trace_slice_begin(struct trace *trace, struct trace_event *event, u64 begin_ns)
{
	put_event(trace, &event->event, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, begin_ns);
}

void trace_slice_end(struct trace *trace, u64 track, u64 end_ns)
{
	Perfetto__TrackEvent end = PERFETTO__TRACK_EVENT__INIT;

	WIRE_SET(&end, track_uuid, track);
	put_event(trace, &end, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END, end_ns);
}

void trace_slice(struct trace *trace, struct trace_event *event, u64 begin_ns, u64 end_ns)
{
	trace_slice_begin(trace, event, begin_ns);
	trace_slice_end(trace, event->event.track_uuid, end_ns);
}

void trace_instant(struct trace *trace, struct trace_event *event, u64 ts_ns)
{
	put_event(trace, &event->event, PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT, ts_ns);
}

void trace_count(struct trace *trace, u64 track, u64 ts_ns, double value)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	WIRE_SET(&event, track_uuid, track);
	WIRE_SET(&event, double_counter_value, value);
	put_event(trace, &event, PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER, ts_ns);
}
