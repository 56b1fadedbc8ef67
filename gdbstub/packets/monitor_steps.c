/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/packets/monitor_commands.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/breakpoints/until_state.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/monitor/counters.h"
#include "gdbstub/run/retired.h"
#include "gdbstub/run/under_counter.h"

struct error *monitor_stepi(struct client *client, const char *args, struct buffer *out)
{
	const struct thread *thread = client_thread(client);
	char *end;
	unsigned long long steps;

	if (args[0] == '\0') {
		steps = client->session.unused_steps +
			(thread ? thread->control->steps_left : 0);
		buffer_printf(out, "%llu steps are left.\n", steps);
		return NULL;
	}
	errno = 0;
	steps = strtoull(args, &end, 10);
	if (!isdigit((unsigned char)args[0]) || *end != '\0' || errno != 0 ||
	    steps == 0)
		return error_create(0, "expected how many steps, not '%s'", args);
	client->session.more_steps = steps - 1;
	client->session.unused_steps = 0;
	buffer_printf(out, "The next single step makes %llu.\n", steps);
	return NULL;
}

struct error *monitor_counters(struct client *client, const char *args,
			       struct buffer *out)
{
	(void)args;
	counters_show(&client->run->counters, out);
	return NULL;
}

struct error *monitor_counters_json(struct client *client, const char *args,
				    struct buffer *out)
{
	(void)args;
	counters_show_json(&client->run->counters, out);
	return NULL;
}

static void show_left(const struct retired *retired, struct buffer *out)
{
	buffer_printf(out, "%ju %s are left%s.\n", (uintmax_t)retired->left,
		      retired_event_name(retired->event),
		      retired->lost ? "; it has run without being counted" : "");
	if (retired->overshot > 0)
		buffer_printf(out, "%ju more than wanted were executed.\n",
			      (uintmax_t)retired->overshot);
	if (retired->by_counter > 0)
		buffer_printf(out, "The processor has counted %ju.\n",
			      (uintmax_t)retired->by_counter);
}

/* A number from 1 on, and blanks after it. */
static bool take_number(const char **at, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(*at, &end, 10);
	if (!isdigit((unsigned char)**at) || errno != 0 || *ret == 0 ||
	    (*end != '\0' && *end != ' '))
		return false;
	*at = end + strspn(end, " ");
	return true;
}

/* EVENT N [STEPS] */
static bool begin_count(struct client *client, struct thread *thread, const char *args)
{
	const size_t len = strcspn(args, " ");
	uint64_t count, limit = 0;
	enum retired_event event;
	char name[32] = "";

	if (len >= sizeof(name))
		return false;
	memcpy(name, args, len);
	args += len + strspn(args + len, " ");
	if (!retired_event_find(name, &event) || !take_number(&args, &count) ||
	    (*args != '\0' && !take_number(&args, &limit)) || *args != '\0')
		return false;
	counter_find(&client->run->counters, event);
	retired_begin(thread, event, count, limit);
	return true;
}

/* What is in place follows at the next resume. */
struct error *monitor_set_skid(struct client *client, const char *args,
			       struct buffer *out)
{
	struct retired_setting *counting = &client->run->counting;
	uint64_t margin;

	if (strcmp(args, "off") == 0) {
		*counting = (struct retired_setting){.steps = true};
		buffer_append_string(out, "until-count steps all the way.\n");
	} else if (strcmp(args, "auto") == 0) {
		*counting = (struct retired_setting){0};
		buffer_append_string(out,
				     "until-count steps as far as this processor's "
				     "interrupts may come late.\n");
	} else if (take_number(&args, &margin) && *args == '\0') {
		*counting =
			(struct retired_setting){.own_margin = true, .margin = margin};
		buffer_printf(out, "until-count steps the last %ju.\n",
			      (uintmax_t)margin);
	} else {
		return error_create(
			0, "set skid takes auto, off or a number, not '%s'.", args);
	}
	return NULL;
}

struct error *monitor_until_count(struct client *client, const char *args,
				  struct buffer *out)
{
	struct thread *thread = client_thread(client);

	if (!thread)
		return error_create(0, "There is no thread.");
	if (args[0] != '\0' && !thread_is_held(thread))
		return error_create(0, "The thread runs.");
	if (thread_is_held(thread))
		under_counter_end_late(client->run, thread);
	if (strcmp(args, "off") == 0)
		retired_begin(thread, RETIRED_INSTRUCTIONS, 0, 0);
	else if (args[0] != '\0' && !begin_count(client, thread, args))
		return error_create(0,
				    "expected instructions, branches, "
				    "conditional-branches or taken-branches, and how "
				    "many, not '%s'",
				    args);
	show_left(&thread->control->retired, out);
	return NULL;
}

struct error *monitor_until_state(struct client *client, const char *args,
				  struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);

	if (!inferior)
		return error_create(0, "There is no process, hence no breakpoints.");
	run_pause(client->run);
	return run_unpause(client->run, until_state(inferior, args, out));
}
