// SPDX-License-Identifier: Apache-2.0
#include "transfer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model/profile.h"
#include "reading.h"

#define TEXTS_MAX   (16u << 20)
#define NUMBER_MOST 1e60 /* squares of it, and their sums, are numbers too */

/* First of all. */
struct head {
	u64 runs, bins, texts, lines;
	double no_room[DIFF_TABLES];
};

/* Before the numbers of a line, by bin. */
struct line_head {
	struct diff_key key;
	double weights, squares, wait, cpu;
	u32 needs_both, has_events, has_buckets;
};

/* Of a bin's histogram, those that count something. */
struct bucket {
	u32 place, count;
};

/* --- sending --- */

static void put(FILE *to, const void *bytes, size_t size)
{
	if (size)
		fwrite(bytes, size, 1, to);
}

static void send_texts(const struct diff *diff, FILE *to)
{
	for (size_t i = 0; i < diff->strings.count; i++) {
		const char *text = diff_text(diff, (u32)i);
		u32 size = (u32)strlen(text);

		put(to, &size, sizeof(size));
		put(to, text, size);
	}
}

static void send_runs(const struct diff *diff, FILE *to)
{
	for (size_t i = 0; i < diff->run_count; i++) {
		const struct diff_run *from = &diff->runs[i];
		struct diff_run run = *from;

		run.name = NULL;
		run.facts = NULL;
		run.bin_of = NULL;
		put(to, &run, sizeof(run));
		put(to, from->facts, from->fact_count * sizeof(*from->facts));
	}
}

static void send_buckets(const struct diff *diff, const struct diff_line *line, FILE *to)
{
	for (size_t bin = 0; bin < diff->bin_count; bin++) {
		const u32 *buckets = line->buckets + bin * HIST_BUCKETS;
		u32 used = 0;

		for (u32 i = 0; i < HIST_BUCKETS; i++)
			used += buckets[i] != 0;
		put(to, &used, sizeof(used));
		for (u32 i = 0; i < HIST_BUCKETS; i++)
			if (buckets[i])
				put(to, &(struct bucket){i, buckets[i]}, sizeof(struct bucket));
	}
}

/* A percentile has nothing of its own: it comes from the histogram of its mean. */
static bool is_sent(const struct diff_line *line)
{
	return line->values && line->key.measure <= DIFF_MEAN;
}

static void send_line(const struct diff *diff, const struct diff_line *line, FILE *to)
{
	struct line_head head = {
		.key = line->key,
		.weights = line->weights[0] + line->weights[1],
		.squares = line->squares[0] + line->squares[1],
		.wait = line->wait[0] + line->wait[1],
		.cpu = line->cpu[0] + line->cpu[1],
		.needs_both = line->needs_both,
		.has_events = line->events != NULL,
		.has_buckets = line->owns_buckets,
	};

	put(to, &head, sizeof(head));
	put(to, line->values, diff->bin_count * sizeof(*line->values));
	if (line->events)
		put(to, line->events, diff->bin_count * sizeof(*line->events));
	if (line->owns_buckets)
		send_buckets(diff, line, to);
}

void diff_send(const struct diff *diff, FILE *to)
{
	struct head head = {
		.runs = diff->run_count, .bins = diff->bin_count, .texts = diff->strings.count};

	memcpy(head.no_room, diff->no_room, sizeof(head.no_room));
	for (size_t i = 0; i < diff->lines.count; i++)
		head.lines += is_sent(hash_item(&diff->lines, i));
	put(to, &head, sizeof(head));
	send_texts(diff, to);
	send_runs(diff, to);
	put(to, diff->bins, diff->bin_count * sizeof(*diff->bins));
	for (size_t i = 0; i < diff->lines.count; i++)
		if (is_sent(hash_item(&diff->lines, i)))
			send_line(diff, hash_item(&diff->lines, i), to);
}

/* --- receiving --- */

struct receiver {
	struct reading reading; /* to add lines */
	FILE *from;
	int side;
	const char *const *names;
	struct head head;
	u32 *texts;	  /* our number of each of theirs */
	size_t first_bin; /* where theirs begin */
};

static int get(struct receiver *receiver, void *bytes, size_t size)
{
	return !size || fread(bytes, size, 1, receiver->from) == 1 ? 0 : -EPROTO;
}

static bool are_numbers(const double *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(fabs(numbers[i]) <= NUMBER_MOST))
			return false;
	return true;
}

static int get_numbers(struct receiver *receiver, double *numbers, size_t count)
{
	int err = get(receiver, numbers, count * sizeof(*numbers));

	return err ? err : are_numbers(numbers, count) ? 0 : -EPROTO;
}

static int receive_texts(struct receiver *receiver)
{
	struct reading *reading = &receiver->reading;
	char text[DIFF_TEXT_BYTES];

	for (size_t i = 0; i < receiver->head.texts; i++) {
		u32 size = 0;
		int err = get(receiver, &size, sizeof(size));

		if (!err)
			err = size < sizeof(text) ? get(receiver, text, size) : -EPROTO;
		if (err)
			return err;
		text[size] = '\0';
		receiver->texts[i] = reading_text(reading, text);
	}
	return reading->diff->strings.was_short ? -ENOMEM : 0;
}

static int translate(const struct receiver *receiver, u32 *number)
{
	if (*number >= receiver->head.texts)
		return *number ? -EPROTO : 0; /* 0 is "", even of no texts */
	*number = receiver->texts[*number];
	return 0;
}

static void end_texts(struct diff_run *run)
{
#define END(text) run->text[sizeof(run->text) - 1] = '\0'
	END(kernel);
	END(machine);
	END(host);
	END(boot_id);
	END(tier);
	END(filter);
	END(signals);
	END(kind);
	END(note);
	END(version);
#undef END
}

static bool is_run(const struct diff_run *run)
{
	return run->fact_count <= DIFF_FACTS_MAX && run->window_count &&
	       run->window_count <= READING_WINDOWS_MAX && run->bin_count &&
	       run->bin_count <= DIFF_BINS_MAX && run->begin_ns <= run->end_ns &&
	       are_numbers(
		       (double[]){run->other_ns, run->cpus_ns, run->busy_ns, run->least_covered},
		       4);
}

static int receive_facts(struct receiver *receiver, struct diff_run *run)
{
	size_t count = run->fact_count;
	int err;

	run->facts = calloc(count + 1, sizeof(*run->facts));
	if (!run->facts)
		return -ENOMEM;
	err = get(receiver, run->facts, count * sizeof(*run->facts));
	for (size_t i = 0; !err && i < count; i++) {
		err = translate(receiver, &run->facts[i].module);
		if (!err)
			err = translate(receiver, &run->facts[i].build_id);
	}
	return err;
}

static int receive_runs(struct receiver *receiver)
{
	struct diff *diff = receiver->reading.diff;
	size_t bins = 0;

	for (size_t i = 0; i < receiver->head.runs; i++) {
		struct diff_run *run = &diff->runs[diff->run_count], got;
		int err = get(receiver, &got, sizeof(got));

		if (err || !is_run(&got))
			return -EPROTO;
		*run = got;
		run->facts = NULL;
		run->bin_of = NULL;
		run->side = receiver->side;
		run->name = receiver->names[i];
		run->first_bin = receiver->first_bin + bins;
		bins += run->bin_count;
		end_texts(run);
		diff->run_count++;
		err = receive_facts(receiver, run);
		if (err)
			return err;
	}
	return bins == receiver->head.bins ? 0 : -EPROTO;
}

static int receive_bins(struct receiver *receiver)
{
	struct diff *diff = receiver->reading.diff;
	struct diff_bin *bins = diff->bins + diff->bin_count;

	diff->bin_count += receiver->head.bins;
	for (size_t i = 0; i < receiver->head.bins; i++) {
		struct diff_bin *bin = &bins[i];

		if (get(receiver, bin, sizeof(*bin)) ||
		    !are_numbers((double[]){bin->wall_s, bin->cpu_s, bin->count, bin->begin_s,
					    bin->loop_ns, bin->loops},
				 6))
			return -EPROTO;
	}
	return 0;
}

/* to: NULL if there is no room for the line. */
static int receive_buckets(struct receiver *receiver, u32 *to)
{
	for (size_t bin = 0; bin < receiver->head.bins; bin++) {
		u32 used = 0;
		int err = get(receiver, &used, sizeof(used));

		for (u32 i = 0; !err && i < used; i++) {
			struct bucket bucket = {0};

			err = get(receiver, &bucket, sizeof(bucket));
			if (!err && bucket.place >= HIST_BUCKETS)
				err = -EPROTO;
			if (!err && to)
				to[(receiver->first_bin + bin) * HIST_BUCKETS + bucket.place] =
					bucket.count;
		}
		if (err)
			return err;
	}
	return 0;
}

static int translate_key(const struct receiver *receiver, struct diff_key *key)
{
	u32 *const texts[] = {&key->service, &key->process, &key->name, &key->module};
	int err = 0;

	if (key->table >= DIFF_TABLES || key->measure > DIFF_MEAN || key->kind >= SAMPLE_KIND_COUNT)
		return -EPROTO;
	for (size_t i = 0; !err && i < sizeof(texts) / sizeof(texts[0]); i++)
		err = translate(receiver, texts[i]);
	return err;
}

/* Numbers by bin, of a line, or of nobody. */
static int receive_numbers(struct receiver *receiver, double *to)
{
	double numbers[DIFF_BINS_MAX];
	int err = get_numbers(receiver, numbers, receiver->head.bins);

	if (!err && to)
		memcpy(to + receiver->first_bin, numbers, receiver->head.bins * sizeof(*numbers));
	return err;
}

static int receive_line(struct receiver *receiver)
{
	struct reading *reading = &receiver->reading;
	struct diff_line *line;
	struct line_head head;
	int err = get(receiver, &head, sizeof(head)), side = receiver->side;

	if (err || !are_numbers((double[]){head.weights, head.squares, head.wait, head.cpu}, 4) ||
	    (head.has_events && head.key.measure != DIFF_MEAN) ||
	    (head.has_buckets && !head.has_events))
		return -EPROTO;
	err = translate_key(receiver, &head.key);
	if (err)
		return err;
	line = reading_line(reading, &head.key, 0, &err);
	if (!err && line && head.has_events)
		err = reading_make_events(reading, &line);
	if (err)
		return err;
	if (line) {
		line->weights[side] += head.weights;
		line->squares[side] += head.squares;
		line->wait[side] += head.wait;
		line->cpu[side] += head.cpu;
		line->needs_both |= head.needs_both;
	}
	err = receive_numbers(receiver, line ? line->values : NULL);
	if (!err && head.has_events)
		err = receive_numbers(receiver, line ? line->events : NULL);
	if (!err && head.has_buckets)
		err = receive_buckets(receiver, line ? line->buckets : NULL);
	return err;
}

static int receive(struct receiver *receiver)
{
	struct diff *diff = receiver->reading.diff;
	int err = receive_texts(receiver);

	if (!err)
		err = receive_runs(receiver);
	if (!err)
		err = receive_bins(receiver);
	for (u64 i = 0; !err && i < receiver->head.lines; i++)
		err = receive_line(receiver);
	for (u32 table = 0; table < DIFF_TABLES; table++)
		diff->no_room[table] += receiver->head.no_room[table];
	return err;
}

int diff_receive(struct diff *diff, FILE *from, int side, const char *const *names,
		 size_t name_count)
{
	struct receiver receiver = {.reading = {.diff = diff},
				    .from = from,
				    .side = side,
				    .names = names,
				    .first_bin = diff->bin_count};
	const struct head *head = &receiver.head;
	int err;

	if (get(&receiver, &receiver.head, sizeof(receiver.head)) || head->runs != name_count ||
	    diff->run_count + head->runs > DIFF_RUNS_MAX ||
	    head->bins > DIFF_BINS_MAX - diff->bin_count || head->texts > TEXTS_MAX ||
	    !are_numbers(head->no_room, DIFF_TABLES))
		return -EPROTO;
	receiver.texts = calloc(head->texts + 1, sizeof(*receiver.texts));
	err = receiver.texts ? receive(&receiver) : -ENOMEM;
	free(receiver.texts);
	return err;
}
